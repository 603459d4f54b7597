// SPDX-License-Identifier: Apache-2.0
// Record (L4): threads that compress blocks for one writer; results are taken in the order of the blocks.
#pragma once

#include <spotter/format/zstd_codec.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace spotter::inline SPOTTER_ABI {

// The writer makes all calls; while it waits it compresses, too. A job's `state` defines its owner: the writer while it
// is free or made, a helper once it is taken. `state` is stored with release and loaded with acquire, so that blocks
// and frames are complete. Nothing here runs on the training thread. Sleepers are woken by condition variables:
// std::atomic::wait loses wake-ups where libstdc++ has no futex (g++ 12, MinGW).
class packer_pool {
public:
    packer_pool() noexcept = default;
    packer_pool(packer_pool const&) = delete;
    packer_pool& operator=(packer_pool const&) = delete;
    ~packer_pool() { stop(); }

    // `threads` compress, with the writer; fewer if the system refuses more.
    void start(unsigned threads, int level) noexcept;
    [[nodiscard]] bool works() const noexcept { return count_ > 0; }  // there is a helper thread
    [[nodiscard]] bool empty() const noexcept { return given_ == taken_; }
    // Take one before giving another.
    [[nodiscard]] bool full() const noexcept { return given_ - taken_ == capacity(); }

    // Copies a block. False where memory is exhausted. Not while `full`.
    [[nodiscard]] bool give(byte_view block, payload_form form) noexcept;
    // Appends the frames of the oldest block to `out`; not while `empty`. `own` packs it if no helper has begun.
    [[nodiscard]] error take(payload_packer& own, byte_buffer& out) noexcept;

private:
    static constexpr unsigned most_threads = 16;

    struct job {
        static constexpr std::uint32_t free = 0, waiting = 1, taken = 2, made = 3;

        byte_buffer block{};
        byte_buffer frames{};
        error why{};
        payload_form form{};
        std::atomic<std::uint32_t> state{free};
    };
    // Allocated once: slot_array moves its values when it grows, and jobs cannot be moved.
    class job_list {
    public:
        job_list() noexcept = default;
        job_list(job_list const&) = delete;
        job_list& operator=(job_list const&) = delete;
        ~job_list() { delete[] jobs_; }
        [[nodiscard]] bool grow(std::size_t count) noexcept;
        [[nodiscard]] std::size_t size() const noexcept { return size_; }
        [[nodiscard]] job& operator[](std::uint64_t index) noexcept { return jobs_[index]; }

    private:
        job* jobs_ = nullptr;
        std::size_t size_ = 0;
    };

    [[nodiscard]] std::uint64_t capacity() const noexcept { return jobs_.size(); }

    void tell(std::condition_variable& whom) noexcept;
    void help() noexcept;
    void stop() noexcept;

    job_list jobs_;
    std::thread helpers_[most_threads];
    unsigned count_ = 0;
    int level_ = 1;
    std::uint64_t given_ = 0;
    std::uint64_t taken_ = 0;
    std::atomic<std::uint32_t> news_{0};
    std::atomic<bool> stop_{false};
    std::mutex telling_;
    std::condition_variable given_something_;  // a block was given, or stop: helpers wait for it
    std::condition_variable made_something_;   // a block is made: the writer waits for it
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/packer_pool.ipp>
#endif
