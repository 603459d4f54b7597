// SPDX-License-Identifier: Apache-2.0
// Ring (L1): bytes from one thread to another: entries of any size up to half the ring, each contiguous, without a lock.
#pragma once

#include <spotter/ring/fwd.hpp>

#include <atomic>
#include <bit>
#include <cstring>
#include <new>
#include <span>

namespace spotter::inline SPOTTER_ABI {

// What the consumer sees: the tag that the producer gave and the bytes it wrote, valid until `release`.
struct ring_entry {
    std::uint32_t tag = 0;
    std::span<std::byte const> bytes{};
    bool some = false;
};

// One producer thread calls prepare and commit, one consumer thread peek and release; both may be the same. An entry is an
// 8-byte header (size, tag) and its bytes, padded to 8. An entry that does not fit before the end of the memory is preceded
// by a padding entry and starts at the beginning, so every entry is contiguous. Something larger than `largest()` is handed
// over as several entries by whoever uses the ring (record/ does).
//
// Why it is right. `head_` (bytes ever committed) is written by the producer only, `tail_` (bytes ever released) by the
// consumer only; both only grow, and tail <= head <= tail + size. The producer writes only into [head, tail + size), the
// consumer reads only [tail, head). A commit stores head with release after the bytes were written, and the consumer loads
// it with acquire before it reads them: so it sees them whole. A release stores tail with release after the bytes were read,
// and the producer loads it with acquire before it writes over them: so no byte changes while it is read. Each side keeps
// the other's counter as it saw it last; an old value is smaller than the true one, so it errs on the side of less room and
// fewer entries, and it is loaded anew only when it does not suffice. No operation waits or repeats: both sides are wait-free.
// 64-bit counters do not wrap within any lifetime. Padding is committed together with the entry behind it.
class byte_ring {
public:
    static constexpr std::size_t header = 8;

    byte_ring() noexcept = default;
    byte_ring(byte_ring const&) = delete;
    byte_ring& operator=(byte_ring const&) = delete;
    ~byte_ring() {
        if (owned_) { ::operator delete (memory_, std::align_val_t{line}); }
    }

    static constexpr std::size_t alignment = 64;
    // The bytes that a ring of at least `bytes` takes: a power of two, at least 1 KiB.
    [[nodiscard]] static constexpr std::size_t size_for(std::uint64_t bytes) noexcept {
        return std::bit_ceil(static_cast<std::size_t>(bytes < 1024 ? 1024 : bytes));
    }

    // Takes size_for(bytes) bytes and touches every page, so that no page fault comes later. `given` is memory of the caller's
    // for it, aligned, which must outlive the ring. Once, before any other call. False where there is no such memory.
    [[nodiscard]] bool start(std::uint64_t bytes, std::byte* given = nullptr) noexcept {
        if (memory_ != nullptr || bytes > (std::uint64_t{1} << 46)) { return false; }
        std::size_t const size = size_for(bytes);
        owned_ = given == nullptr;
        memory_ = owned_ ? static_cast<std::byte*>(::operator new (size, std::align_val_t{line}, std::nothrow)) : given;
        if (memory_ == nullptr) { return false; }
        for (std::size_t at = 0; at < size; at += 4096) { std::memset(memory_ + at, 0, 1); }
        size_ = size;
        return true;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Bytes of the largest entry: it fits into an empty ring wherever that begins.
    [[nodiscard]] std::size_t largest() const noexcept { return size_ / 2 - header; }

    // Producer. Memory for an entry of up to `bytes`, or null while the ring is too full for it (and `spare` bytes more, for
    // what must not be lost). Prepared and not committed, it is simply forgotten.
    [[nodiscard]] std::byte* prepare(std::size_t bytes, std::size_t spare = 0) noexcept {
        if (bytes > largest()) { return nullptr; }
        std::size_t const needed = header + padded(bytes);
        std::size_t const at = static_cast<std::size_t>(producer_.head) & (size_ - 1);
        padding_ = size_ - at < needed ? size_ - at : 0;
        std::uint64_t const after = producer_.head + padding_ + needed + spare;
        if (after > producer_.seen_tail + size_) {
            producer_.seen_tail = tail_.value.load(std::memory_order_acquire);
            if (after > producer_.seen_tail + size_) { return nullptr; }
        }
        return memory_ + (padding_ > 0 ? 0 : at) + header;
    }
    // Producer. Hands over the first `bytes` of what was prepared last.
    void commit(std::size_t bytes, std::uint32_t tag) noexcept {
        std::size_t const at = static_cast<std::size_t>(producer_.head) & (size_ - 1);
        if (padding_ > 0) { write_header(at, padding_ - header, padding_tag); }
        write_header(padding_ > 0 ? 0 : at, bytes, tag);
        producer_.head += padding_ + header + padded(bytes);
        head_.value.store(producer_.head, std::memory_order_release);
    }
    // Producer. Bytes free at least, counting headers, padding and all; the consumer may have released more by now.
    [[nodiscard]] std::uint64_t room() noexcept {
        producer_.seen_tail = tail_.value.load(std::memory_order_acquire);
        return producer_.seen_tail + size_ - producer_.head;
    }

    // Consumer. The oldest entry, or one with `some` false.
    [[nodiscard]] ring_entry peek() noexcept {
        for (;;) {
            if (consumer_.tail == consumer_.seen_head) {
                consumer_.seen_head = head_.value.load(std::memory_order_acquire);
                if (consumer_.tail == consumer_.seen_head) { return {}; }
            }
            std::size_t const at = static_cast<std::size_t>(consumer_.tail) & (size_ - 1);
            std::uint32_t fields[2];
            std::memcpy(fields, memory_ + at, header);
            if (fields[1] != padding_tag) { return {fields[1], {memory_ + at + header, fields[0]}, true}; }
            consumer_.tail += header + fields[0];
        }
    }
    // Consumer. Gives back the entry that was peeked.
    void release() noexcept {
        std::size_t const at = static_cast<std::size_t>(consumer_.tail) & (size_ - 1);
        std::uint32_t bytes = 0;
        std::memcpy(&bytes, memory_ + at, sizeof bytes);
        consumer_.tail += header + padded(bytes);
        tail_.value.store(consumer_.tail, std::memory_order_release);
    }

    // Consumer. Bytes waiting when the producer's counter was last looked at.
    [[nodiscard]] std::uint64_t backlog() const noexcept { return consumer_.seen_head - consumer_.tail; }

    // Any thread. Bytes ever released.
    [[nodiscard]] std::uint64_t released() const noexcept { return tail_.value.load(std::memory_order_acquire); }

private:
    // A fixed 64: std::hardware_destructive_interference_size differs between compilers and flags, so between two files of
    // one program.
    static constexpr std::size_t line = alignment;  // of a cache
    static constexpr std::uint32_t padding_tag = 0xFFFFFFFFU;

    struct alignas(line) counter {
        std::atomic<std::uint64_t> value{0};
    };
    struct alignas(line) producer_side {
        std::uint64_t head = 0;
        std::uint64_t seen_tail = 0;
    };
    struct alignas(line) consumer_side {
        std::uint64_t tail = 0;
        std::uint64_t seen_head = 0;
    };

    [[nodiscard]] static constexpr std::size_t padded(std::size_t bytes) noexcept {
        return (bytes + 7) & ~std::size_t{7};
    }
    void write_header(std::size_t at, std::size_t bytes, std::uint32_t tag) noexcept {
        std::uint32_t const fields[2] = {static_cast<std::uint32_t>(bytes), tag};
        std::memcpy(memory_ + at, fields, header);
    }

    std::byte* memory_ = nullptr;
    bool owned_ = true;
    std::size_t size_ = 0;
    std::size_t padding_ = 0;  // of the last prepare; the producer's
    producer_side producer_{};
    counter head_{};
    consumer_side consumer_{};
    counter tail_{};
};

}  // namespace spotter::inline SPOTTER_ABI
