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
#include <spotter/core/slots.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void packer_pool::start(unsigned threads, int level) noexcept {
    unsigned const wanted = (threads < most_threads ? threads : most_threads) - (threads > 0 ? 1 : 0);
    if (wanted == 0 || !jobs_.grow(2 * wanted)) { return; }
    level_ = level;
    for (unsigned i = 0; i < wanted; ++i) {
#if SPOTTER_EXCEPTIONS
        try {
            helpers_[i] = std::thread{[this]() noexcept { help(); }};
        } catch (...) { break; }
#else
        helpers_[i] = std::thread{[this]() noexcept { help(); }};
#endif
        ++count_;
    }
}

SPOTTER_BODY bool packer_pool::give(byte_view block, payload_form form) noexcept {
    job& it = jobs_[given_ % capacity()];
    it.block.clear();
    if (!it.block.append(block)) { return false; }
    it.form = form;
    it.state.store(job::waiting, std::memory_order_release);
    ++given_;
    news_.fetch_add(1, std::memory_order_release);
    tell(given_something_);
    return true;
}

SPOTTER_BODY error packer_pool::take(payload_packer& own, byte_buffer& out) noexcept {
    job& it = jobs_[taken_++ % capacity()];
    std::uint32_t state = job::waiting;
    if (it.state.compare_exchange_strong(state, job::free, std::memory_order_acq_rel)) {
        return own.pack(it.block.view(), it.form, out);
    }
    if (state != job::made) {
        std::unique_lock lock{telling_};
        made_something_.wait(lock, [&] { return it.state.load(std::memory_order_acquire) == job::made; });
    }
    it.state.store(job::free, std::memory_order_relaxed);
    if (it.why) { return it.why; }
    if (out.append(it.frames.view())) { return {}; }
    return {errc::out_of_memory, "no memory to compress values; recording stops here, the training goes on"};
}

SPOTTER_BODY bool packer_pool::job_list::grow(std::size_t count) noexcept {
    jobs_ = new (std::nothrow) job[count];
    size_ = jobs_ != nullptr ? count : 0;
    return jobs_ != nullptr;
}

// The sleeper's condition is stored before. Taking the mutex ensures that a sleeper that checked it earlier waits now.
SPOTTER_BODY void packer_pool::tell(std::condition_variable& whom) noexcept {
    { std::lock_guard const lock{telling_}; }
    whom.notify_all();
}

SPOTTER_BODY void packer_pool::help() noexcept {
    payload_packer packer{level_};
    for (;;) {
        std::uint32_t const seen = news_.load(std::memory_order_acquire);
        bool worked = false;
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            job& it = jobs_[i];
            std::uint32_t state = job::waiting;
            if (!it.state.compare_exchange_strong(state, job::taken, std::memory_order_acq_rel)) { continue; }
            it.frames.clear();
            it.why = packer.pack(it.block.view(), it.form, it.frames);
            it.state.store(job::made, std::memory_order_release);
            tell(made_something_);
            worked = true;
        }
        if (stop_.load(std::memory_order_acquire)) { return; }
        if (worked) { continue; }
        std::unique_lock lock{telling_};
        given_something_.wait(lock, [&] { return news_.load(std::memory_order_acquire) != seen; });
    }
}

SPOTTER_BODY void packer_pool::stop() noexcept {
    stop_.store(true, std::memory_order_release);
    news_.fetch_add(1, std::memory_order_release);
    tell(given_something_);
    for (unsigned i = 0; i < count_; ++i) { helpers_[i].join(); }
    count_ = 0;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
