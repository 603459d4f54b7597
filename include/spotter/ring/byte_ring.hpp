// SPDX-License-Identifier: Apache-2.0
// Ring (L1): a lock-free queue of bytes between two threads. Entries have any size up to half the ring, and each is
// contiguous.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/ring/ring_header.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

// An entry as the consumer sees it: the producer's tag and bytes, valid until they are released.
struct ring_entry {
    std::uint32_t tag = 0;               // for the users of the ring; not the padding tag
    std::span<std::byte const> bytes{};  // in the ring's memory
    bool some = false;                   // false: no entry
};

// One producer thread calls prepare and commit, one consumer thread calls take and release; both may be the same
// thread. An entry is an 8-byte header (size, tag) and its bytes, padded to 8. An entry that does not fit before the
// end of the memory is preceded by a padding entry and starts at the beginning, so every entry is contiguous. The user
// of the ring splits data larger than `largest()` into several entries (as record/ does).
//
// Correctness. Only the producer writes `head` (bytes ever committed), only the consumer writes `tail` (bytes ever
// released); both only grow, and tail <= head <= tail + size. The producer writes only into [head, tail + size), the
// consumer reads only [tail, head). A commit stores head with release after writing the bytes, and the consumer loads
// it with acquire before reading them: it sees complete entries. A release stores tail with release after reading the
// bytes, and the producer loads it with acquire before overwriting them: no byte changes while it is read. Each side
// caches the other's counter. A cached value is at most the true one, so it shows less room or fewer entries; it is
// loaded again only when it does not suffice. No operation waits or repeats: both sides are wait-free. 64-bit counters
// do not wrap within any lifetime. Padding is committed together with the entry behind it.
//
// A ring may be in memory that outlives the process (ring_header). Its finder may continue from any position between
// the two counters: nothing before head changes any more, and the cached values are only shortcuts.
class byte_ring {
public:
    static constexpr std::size_t header = 8;  // bytes of an entry's header

    byte_ring() noexcept = default;
    byte_ring(byte_ring const&) = delete;
    byte_ring& operator=(byte_ring const&) = delete;
    ~byte_ring() {
        if (owned_) { ::operator delete(memory_, std::align_val_t{line}); }
    }

    static constexpr std::size_t alignment = 64;  // of the memory; entries are aligned to 8 bytes
    // The memory of a ring of at least `bytes`: a power of two, at least 1 KiB.
    [[nodiscard]] static constexpr std::size_t size_for(std::uint64_t bytes) noexcept {
        return std::bit_ceil(as_size(bytes < 1024 ? 1024 : bytes));
    }

    // Allocates size_for(bytes) bytes without touching them, or uses the caller's `given` memory, which must be aligned
    // and outlive the ring. Call it once, before any other call. False if there is no memory.
    [[nodiscard]] bool start(std::uint64_t bytes, std::byte* given = nullptr) noexcept {
        if (memory_ != nullptr || bytes > (std::uint64_t{1} << 46)) { return false; }
        std::size_t const size = size_for(bytes);
        owned_ = given == nullptr;
        memory_ = owned_ ? static_cast<std::byte*>(::operator new(size, std::align_val_t{line}, std::nothrow)) : given;
        if (memory_ == nullptr) { return false; }
        size_ = size;
        return true;
    }
    // Creates the ring behind a new header, which must outlive this.
    [[nodiscard]] bool start(ring_header& shared) noexcept {
        if (memory_ != nullptr) { return false; }
        attach(shared);
        return true;
    }
    // For a consumer: opens the ring that a process left behind a header, which `ring_header::open` must accept.
    // Entries come from `position` on, which must be between the counters. Returns the end of the intact entries: the
    // head, or the position of damage, behind which everything is lost. Walks all entries once, so that later calls
    // need no checks.
    [[nodiscard]] std::uint64_t reopen(ring_header& shared, std::uint64_t position) noexcept {
        attach(shared);
        consumer_.taken = position;
        consumer_.released = shared.counters.tail.load(std::memory_order_acquire);
        producer_.head = consumer_.seen_head = whole_entries(position);
        counters_->head.store(producer_.head, std::memory_order_release);
        return producer_.head;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Bytes of the largest entry: it fits into an empty ring at any position.
    [[nodiscard]] std::size_t largest() const noexcept { return size_ / 2 - header; }

    // Any thread. The memory that never held an entry: from the head on in the first round, empty afterwards. The
    // producer may write there at any time; other threads may only populate its pages without changing them.
    [[nodiscard]] std::span<std::byte> unused() const noexcept {
        std::uint64_t const head = counters_->head.load(std::memory_order_acquire);
        std::size_t const used = head < size_ ? static_cast<std::size_t>(head) : size_;
        return {memory_ + used, size_ - used};
    }
    // Producer. Writes to each page of up to `bytes` of the unused memory, so that later entries meet no page fault.
    // Not between prepare and commit.
    void touch(std::size_t bytes) noexcept {
        std::span<std::byte> const rest = unused();
        std::size_t const end = bytes < rest.size() ? bytes : rest.size();
        for (std::size_t at = 0; at < end; at += page) { rest[at] = std::byte{}; }
        if (end > 0) { rest[end - 1] = std::byte{}; }
    }

    // Producer. Memory for an entry of up to `bytes`; null if the ring has no room for it and `spare` bytes more. A
    // prepared entry that is not committed has no effect.
    [[nodiscard]] std::byte* prepare(std::size_t bytes, std::size_t spare = 0) noexcept {
        if (bytes > largest()) { return nullptr; }
        std::size_t const needed = header + padded(bytes);
        std::size_t const at = as_size(producer_.head) & (size_ - 1);
        std::size_t const padding = size_ - at < needed ? size_ - at : 0;
        producer_.padding = padding;
        std::uint64_t const after = producer_.head + padding + needed + spare;
        if (after > producer_.seen_tail + size_) {
            producer_.seen_tail = counters_->tail.load(std::memory_order_acquire);
            if (after > producer_.seen_tail + size_) { return nullptr; }
        }
        return memory_ + (padding > 0 ? 0 : at) + header;
    }
    // Producer. Commits the first `bytes` of the last prepared entry.
    void commit(std::size_t bytes, std::uint32_t tag) noexcept {
        std::size_t const at = as_size(producer_.head) & (size_ - 1);
        std::size_t const padding = producer_.padding;
        if (padding > 0) { write_header(at, padding - header, padding_tag); }
        write_header(padding > 0 ? 0 : at, bytes, tag);
        producer_.head += padding + header + padded(bytes);
        counters_->head.store(producer_.head, std::memory_order_release);
    }
    // Producer. Bytes ever committed.
    [[nodiscard]] std::uint64_t committed() const noexcept { return producer_.head; }
    // Producer. A lower bound of the free bytes, with headers and padding; the consumer may have released more since.
    [[nodiscard]] std::uint64_t room() noexcept {
        producer_.seen_tail = counters_->tail.load(std::memory_order_acquire);
        return producer_.seen_tail + size_ - producer_.head;
    }

    // Consumer. The oldest entry that was not taken yet; `some` is false if there is none.
    [[nodiscard]] ring_entry peek() noexcept {
        for (;;) {
            if (consumer_.taken == consumer_.seen_head) {
                consumer_.seen_head = counters_->head.load(std::memory_order_acquire);
                if (consumer_.taken == consumer_.seen_head) { return {}; }
            }
            std::size_t const at = as_size(consumer_.taken) & (size_ - 1);
            std::uint32_t fields[2];
            std::memcpy(fields, memory_ + at, header);
            if (fields[1] != padding_tag) { return {fields[1], {memory_ + at + header, fields[0]}, true}; }
            consumer_.taken += header + fields[0];
        }
    }
    // Consumer. Like peek, and advances. The bytes stay valid until they are released, in case their processing fails.
    [[nodiscard]] ring_entry take() noexcept {
        ring_entry const entry = peek();
        if (entry.some) { consumer_.taken += header + padded(entry.bytes.size()); }
        return entry;
    }
    // Consumer. The position of the next entry, or of the padding before it.
    [[nodiscard]] std::uint64_t taken() const noexcept { return consumer_.taken; }
    // Consumer. Frees everything before a position; by default all taken entries.
    void release(std::uint64_t position) noexcept {
        if (position <= consumer_.released) { return; }
        consumer_.released = position;
        counters_->tail.store(position, std::memory_order_release);
    }
    void release() noexcept { release(consumer_.taken); }
    // Consumer. Bytes taken and not released.
    [[nodiscard]] std::uint64_t held() const noexcept { return consumer_.taken - consumer_.released; }

    // Consumer. Bytes that waited when the producer's counter was last loaded.
    [[nodiscard]] std::uint64_t backlog() const noexcept { return consumer_.seen_head - consumer_.taken; }

    // Any thread. Bytes ever released.
    [[nodiscard]] std::uint64_t released() const noexcept { return counters_->tail.load(std::memory_order_acquire); }

    // The position behind an entry of `bytes` that is committed at `position`.
    [[nodiscard]] static std::uint64_t behind(std::uint64_t position, std::size_t bytes, std::size_t size) noexcept {
        std::size_t const needed = header + padded(bytes);
        std::size_t const left = size - (as_size(position) & (size - 1));
        return position + (left < needed ? left : 0) + needed;
    }

private:
    static constexpr std::size_t line = ring_counters::line;
    static constexpr std::size_t page = 4096;  // not larger than the system's
    static constexpr std::uint32_t padding_tag = 0xFFFFFFFFU;

    struct alignas(line) producer_side {
        std::uint64_t head = 0;
        std::uint64_t seen_tail = 0;
        std::size_t padding = 0;  // of the last prepare
    };
    struct alignas(line) consumer_side {
        std::uint64_t taken = 0;
        std::uint64_t released = 0;
        std::uint64_t seen_head = 0;
    };

    [[nodiscard]] static constexpr std::size_t padded(std::size_t bytes) noexcept {
        return (bytes + 7) & ~std::size_t{7};
    }
    void write_header(std::size_t at, std::size_t bytes, std::uint32_t tag) noexcept {
        std::uint32_t const fields[2] = {static_cast<std::uint32_t>(bytes), tag};
        std::memcpy(memory_ + at, fields, header);
    }

    void attach(ring_header& shared) noexcept {
        owned_ = false;
        memory_ = shared.memory();
        size_ = shared.size();
        counters_ = &shared.counters;
    }
    // An entry is damaged if it would end behind the head or the memory; padding, if it would not end with the memory.
    [[nodiscard]] std::uint64_t whole_entries(std::uint64_t position) const noexcept {
        std::uint64_t const head = counters_->head.load(std::memory_order_acquire);
        std::uint64_t whole = position;  // end of the last entry; padding counts with the entry behind it
        while (position < head) {
            std::size_t const at = as_size(position) & (size_ - 1);
            std::uint32_t fields[2];
            std::memcpy(fields, memory_ + at, header);
            std::size_t const bytes = header + padded(fields[0]);
            if (bytes > head - position || bytes > size_ - at) { break; }
            bool const is_padding = fields[1] == padding_tag;
            if (is_padding && bytes != size_ - at) { break; }
            position += bytes;
            whole = is_padding ? whole : position;
        }
        return whole;
    }

    std::byte* memory_ = nullptr;
    ring_counters* counters_ = &own_;
    std::size_t size_ = 0;
    bool owned_ = true;
    producer_side producer_{};
    consumer_side consumer_{};
    ring_counters own_{};
};

}  // namespace spotter::inline SPOTTER_ABI
