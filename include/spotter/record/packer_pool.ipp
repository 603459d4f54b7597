// SPDX-License-Identifier: Apache-2.0
// The bodies of packer_pool.hpp.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/record/packer_pool.hpp>

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
