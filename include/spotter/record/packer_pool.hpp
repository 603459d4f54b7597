// SPDX-License-Identifier: Apache-2.0
// Record (L4): several threads that compress blocks for one writer; what they made is taken in the order of the blocks.
#pragma once

#include <spotter/format/zstd_codec.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace spotter::inline SPOTTER_ABI {

// The writer calls everything; it helps with the work while it waits. A job's `state` says whose it is: the writer's
// while it is free or made, a helper's once it is taken. Whoever changes it does so with release, whoever reads it with
// acquire, so blocks and frames are seen whole. Nothing here is on the training thread. Who sleeps is woken by
// condition variables: std::atomic's own wait loses wakings where libstdc++ has no futex (of g++ 12, MinGW).
class packer_pool {
public:
    packer_pool() noexcept = default;
    packer_pool(packer_pool const&) = delete;
    packer_pool& operator=(packer_pool const&) = delete;
    ~packer_pool() { stop(); }

    // With the writer `threads` threads compress. Fewer, where the system gives no more.
    void start(unsigned threads, int level) noexcept;
    [[nodiscard]] bool works() const noexcept { return count_ > 0; }  // there is a thread besides the writer
    [[nodiscard]] bool empty() const noexcept { return given_ == taken_; }
    // One must be taken before another is given.
    [[nodiscard]] bool full() const noexcept { return given_ - taken_ == capacity(); }

    // A block, which is copied. False where there is no memory for it; not while `full`.
    [[nodiscard]] bool give(byte_view block, payload_form form) noexcept;
    // The frames of the oldest block, at the end of `out`; not while `empty`. `own` packs what nobody has begun.
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
    // slots moves what it holds when it grows, which jobs cannot; they are made once.
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
    std::condition_variable given_something_;  // or stopped: the helpers wait for it
    std::condition_variable made_something_;   // the writer waits for it
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/packer_pool.ipp>
#endif
