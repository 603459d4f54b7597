// SPDX-License-Identifier: Apache-2.0
// Record (L4): runs options::beside on the writer's side.
#pragma once

#include <spotter/hook/options.hpp>
#include <spotter/hook/writer_task.hpp>

#include <atomic>

namespace spotter::inline SPOTTER_ABI {

// The writer calls everything but `tell_news`.
class beside_task {
public:
    explicit beside_task(writer_task* given) noexcept : given_{given} {}

    // Runs the task if it is due; `now` in milliseconds of a steady clock.
    void look(std::uint64_t now, std::string_view folder, options const& choices, loop_progress const& loop) noexcept {
        if (given_ != nullptr && now >= due_) { work(now, folder, choices, loop); }
    }
    void end() noexcept {
        if (writer_task* const it = std::exchange(running_, nullptr)) { it->end(); }
    }
    // The task's first error, while it runs.
    [[nodiscard]] error trouble() const noexcept { return running_ != nullptr ? running_->trouble() : error{}; }

    // Called by the training thread at a close: adds the task's news to the alarm.
    void tell_news(step_id step, step_alarm& into) noexcept {
        if (has_news_.load(std::memory_order_relaxed)) { take_news(step, into); }
    }

private:
    SPOTTER_NOINLINE void work(std::uint64_t now, std::string_view folder, options const& choices,
                               loop_progress const& loop) noexcept {
        if (running_ == nullptr) { (running_ = given_)->begin(folder, choices, now); }
        due_ = running_->work(now, loop);
        if (running_->has_news()) { has_news_.store(true, std::memory_order_relaxed); }
    }
    SPOTTER_NOINLINE void take_news(step_id step, step_alarm& into) noexcept {
        has_news_.store(false, std::memory_order_relaxed);
        given_->tell(step, into);
    }

    writer_task* given_;              // null: none
    writer_task* running_ = nullptr;  // between its begin and its end
    std::uint64_t due_ = 0;
    std::atomic<bool> has_news_{false};
};

}  // namespace spotter::inline SPOTTER_ABI
