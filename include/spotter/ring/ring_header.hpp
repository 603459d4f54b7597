// SPDX-License-Identifier: Apache-2.0
// Ring (L1): the header of a ring in memory that outlives its process: owner, size and counters.
#pragma once

#include <spotter/core/loop_marks.hpp>
#include <spotter/core/result.hpp>
#include <spotter/version.hpp>

#include <atomic>
#include <bit>
#include <new>
#include <span>

namespace spotter::inline SPOTTER_ABI {

// The two counters of a ring. Each has a cache line of its own, because each side writes one.
struct ring_counters {
    // Fixed at 64: std::hardware_destructive_interference_size may differ between compilers and flags, and so between
    // two files of one program.
    static constexpr std::size_t line = 64;

    alignas(line) std::atomic<std::uint64_t> head{0};  // bytes ever committed
    alignas(line) std::atomic<std::uint64_t> tail{0};  // bytes ever released
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "spotter: a lock would stay behind in shared memory");

// The recording that a ring belongs to.
struct ring_owner {
    std::uint64_t run_id = 0;   // as in the segments' heads
    std::uint32_t worker = 0;   // the worker's number
    std::uint32_t attempt = 0;  // of the run, from 0

    friend constexpr bool operator==(ring_owner const&, ring_owner const&) noexcept = default;
};

// At the beginning of the memory; the ring's bytes follow. Entries are not part of the file format: a ring of another
// library version is left alone.
class ring_header {
public:
    static constexpr std::size_t own_bytes = 4096;  // a page, so that the ring begins at a page

    // Initializes new memory, which must be zero and own_bytes larger than the ring. The name is stored last: without
    // it the ring was never begun.
    [[nodiscard]] static ring_header* make(std::span<std::byte> memory, ring_owner const& owner) noexcept {
        auto* const it = ::new (static_cast<void*>(memory.data())) ring_header;
        it->size_ = memory.size() - own_bytes;
        it->owner_ = owner;
        it->library_ = own_library();
        it->name_.store(right_name, std::memory_order_release);
        return it;
    }
    // Opens memory that a process left. errc::corrupt for invalid content; no_more_data for a ring that was never begun
    // or has no memory; unknown_version for another library's.
    [[nodiscard]] static result<ring_header*> open(std::span<std::byte> memory) noexcept {
        constexpr std::string_view left_alone = "; it was left as it is: remove it when it is not wanted any more";
        error damaged{errc::corrupt, "the ring that a killed process left in shared memory is damaged"};
        damaged.what << left_alone;
        error const never{errc::no_more_data, "the ring in shared memory was never begun"};
        if (memory.empty()) { return never; }
        if (memory.size() < own_bytes) { return damaged; }
        auto* const it = std::launder(reinterpret_cast<ring_header*>(memory.data()));
        std::uint64_t const name = it->name_.load(std::memory_order_acquire);
        if (name == 0) { return never; }
        if (name != right_name) { return damaged; }
        if (it->library_ != own_library()) {
            error why{errc::unknown_version,
                      "the ring that a killed process left was made by another version of spotter"};
            why.what << left_alone << ", or recover it with that version";
            return why;
        }
        std::uint64_t const head = it->counters.head.load(std::memory_order_acquire);
        std::uint64_t const tail = it->counters.tail.load(std::memory_order_acquire);
        bool const sound = it->size_ == memory.size() - own_bytes && std::has_single_bit(it->size_) &&
                           it->size_ >= 1024 && (head | tail) % 8 == 0 && tail <= head && head - tail <= it->size_;
        if (!sound) { return damaged; }
        return it;
    }

    // The first byte of the ring.
    [[nodiscard]] std::byte* memory() noexcept { return reinterpret_cast<std::byte*>(this) + own_bytes; }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    [[nodiscard]] ring_owner const& owner() const noexcept { return owner_; }  // as given to make()

    // The writer's latest time: a recovery gives it to what was not written.
    void note_time(double seconds) noexcept {
        time_.store(std::bit_cast<std::uint64_t>(seconds), std::memory_order_relaxed);
    }
    // Seconds since 1970; any thread.
    [[nodiscard]] double time() const noexcept { return std::bit_cast<double>(time_.load(std::memory_order_relaxed)); }

    ring_counters counters{};  // shared by both sides of the ring
    loop_marks marks{};        // of the thread that fills the ring

private:
    static constexpr std::uint64_t right_name = 0x676E697274'6F7073ULL;  // "spotring"
    static constexpr std::uint64_t layout = 2;                           // version of this header and of the entries

    ring_header() noexcept = default;

    // Library and layout version. Independent of the mode (with or without exceptions), which changes nothing in
    // memory.
    [[nodiscard]] static constexpr std::uint64_t own_library() noexcept {
        return (std::uint64_t{SPOTTER_VERSION_MAJOR} << 48) | (std::uint64_t{SPOTTER_VERSION_MINOR} << 32) |
               (std::uint64_t{SPOTTER_VERSION_PATCH} << 16) | layout;
    }

    std::atomic<std::uint64_t> time_{0};
    std::atomic<std::uint64_t> name_{0};
    std::uint64_t library_ = 0;
    std::uint64_t size_ = 0;
    ring_owner owner_{};
};
static_assert(sizeof(ring_header) <= ring_header::own_bytes);

}  // namespace spotter::inline SPOTTER_ABI
