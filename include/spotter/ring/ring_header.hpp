// SPDX-License-Identifier: Apache-2.0
// Ring (L1): the head of a ring in memory that outlives its process: whose ring it is, how large, and its counters.
#pragma once

#include <spotter/core/loop_marks.hpp>
#include <spotter/core/result.hpp>
#include <spotter/version.hpp>

#include <atomic>
#include <bit>
#include <new>
#include <span>

namespace spotter::inline SPOTTER_ABI {

// The two counters of a ring, each on a cache line of its own: one side writes one of them.
struct ring_counters {
    // A fixed 64: std::hardware_destructive_interference_size differs between compilers and flags, so between two files
    // of one program.
    static constexpr std::size_t line = 64;

    alignas(line) std::atomic<std::uint64_t> head{0};  // bytes ever committed
    alignas(line) std::atomic<std::uint64_t> tail{0};  // bytes ever given back
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "spotter: a lock would stay behind in shared memory");

// Which recording a ring belongs to.
struct ring_owner {
    std::uint64_t run_id = 0;   // of the run's head frames
    std::uint32_t worker = 0;   // by which its folder is named
    std::uint32_t attempt = 0;  // of the run, from 0

    friend constexpr bool operator==(ring_owner const&, ring_owner const&) noexcept = default;
};

// Stands at the beginning of the memory; the ring's bytes are behind it. Entries are not part of the file format, so a
// ring of another version of the library is left alone.
class ring_header {
public:
    static constexpr std::size_t own_bytes = 4096;  // a page, so that the ring begins with one

    // Of new memory, all zeros, own_bytes larger than the ring. The name comes last: without it the ring was never
    // begun.
    [[nodiscard]] static ring_header* make(std::span<std::byte> memory, ring_owner const& owner) noexcept {
        auto* const it = ::new (static_cast<void*>(memory.data())) ring_header;
        it->size_ = memory.size() - own_bytes;
        it->owner_ = owner;
        it->library_ = own_library();
        it->name_.store(right_name, std::memory_order_release);
        return it;
    }
    // Of memory that somebody left. Any garbage is errc::corrupt, a ring that was never begun, or got no memory,
    // errc::no_more_data, one of another library errc::unknown_version.
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

    // Where the ring's bytes begin.
    [[nodiscard]] std::byte* memory() noexcept { return reinterpret_cast<std::byte*>(this) + own_bytes; }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    [[nodiscard]] ring_owner const& owner() const noexcept { return owner_; }  // as it was made

    // The writer's clock as it was last: what it did not come to write gets that time.
    void note_time(double seconds) noexcept {
        time_.store(std::bit_cast<std::uint64_t>(seconds), std::memory_order_relaxed);
    }
    // Seconds since 1970; any thread.
    [[nodiscard]] double time() const noexcept { return std::bit_cast<double>(time_.load(std::memory_order_relaxed)); }

    ring_counters counters{};  // what the ring's two sides share
    loop_marks marks{};        // of the thread that fills the ring

private:
    static constexpr std::uint64_t right_name = 0x676E697274'6F7073ULL;  // "spotring"
    static constexpr std::uint64_t layout = 2;                           // of this header and of entries

    ring_header() noexcept = default;

    // Of the library and of what is in the memory; not of the mode (exceptions or not): that changes nothing in it.
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
