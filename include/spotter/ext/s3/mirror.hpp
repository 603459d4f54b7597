// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a thread that copies a run to an object store while it is recorded. The training never waits for it.
#pragma once

#include <spotter/ext/s3/upload.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace spotter::inline SPOTTER_ABI::s3 {

// Sends everything recorded, once: for a run that has ended, or that another process records. errc: those of the store,
// `exists` where another run is stored there; whatever could be sent was sent.
[[nodiscard]] inline result<mirror_health> sync(std::string_view folder, std::string_view place_to,
                                                mirror_options choices = {}) {
    auto to = parse_place(place_to);
    if (!to) { return to.error(); }
    auto how = settings_here();
    if (!how) { return how.error(); }
    upload once{folder, *to, *how, choices};
    if (error const why = once.pass(true)) { return why; }
    return once.health();
}

// Make it before the hook, so that it is destroyed after it:
//     spotter::s3::mirror away{"runs/a", "s3://bucket/runs/a"};
//     spotter::hook watch{"runs/a", …};
// It sends segments when they are closed, and the growing one every ten seconds and at the end. Files that exist when
// the mirror is made belong to an earlier run, and are not sent until a process writes to them.
class mirror {
public:
    mirror(std::string_view folder, std::string_view place_to, mirror_options choices = {}) noexcept
        : choices_{choices} {
        bool const made = guarded([&] {
            auto to = parse_place(place_to);
            auto how = settings_here();
            if (!to || !how) {
                refused_ = !to ? to.error() : how.error();
                return;
            }
            how->patience = (std::min)(how->patience, std::chrono::milliseconds{10'000});  // the next pass will retry
            work_ = std::make_unique<upload>(folder, *to, *how, choices);
            work_->ignore_what_is_there();
            work_->away().connection().stop_if(
                [](void const* it) noexcept { return static_cast<mirror const*>(it)->is_late(); }, this);
            thread_ = std::thread{[this] { run(); }};
        });
        if (!made) {
            refused_ = {errc::out_of_memory,
                        "no memory or thread for the mirror of a run: it is recorded, and not sent"};
        }
    }
    mirror(mirror const&) = delete;
    mirror& operator=(mirror const&) = delete;
    ~mirror() { (void)finish(); }

    // Why nothing can be sent: no place, no keys, no memory.
    [[nodiscard]] error const& refused() const noexcept { return refused_; }

    // Callable from any thread.
    [[nodiscard]] mirror_health health() const {
        std::scoped_lock const held{guard_};
        mirror_health now = seen_;
        if (refused_) { now.trouble = refused_; }
        return now;
    }

    // Sends the rest, after the hook has finished; waits at most `patience`. What could not be sent is still in the
    // folder, for `spotter sync`.
    [[nodiscard]] error finish() {
        if (!thread_.joinable()) { return health().trouble; }
        {
            std::scoped_lock const held{guard_};
            late_ = spotter::detail::deadline_in(choices_.patience).time_since_epoch().count();
            ending_ = true;
        }
        wake_.notify_all();
        thread_.join();
        return health().trouble;
    }

private:
    [[nodiscard]] bool is_late() const noexcept {
        auto const late = late_.load();
        return late != 0 && std::chrono::steady_clock::now().time_since_epoch().count() > late;
    }

    void run() noexcept {
        using clock = std::chrono::steady_clock;
        auto next = spotter::detail::deadline_in(choices_.every);
        for (bool ending = false; !ending;) {
            {
                std::unique_lock held{guard_};
                auto const look = (std::min)(choices_.every, std::chrono::milliseconds{1000});
                wake_.wait_for(held, look, [&] { return ending_; });
                ending = ending_;
            }
            bool const due = ending || clock::now() >= next;
            error why{};
            bool const done = guarded([&] {
                do { why = work_->pass(due); } while (why && ending && worth_another(why) && !is_late());
            });
            if (due) { next = spotter::detail::deadline_in(choices_.every); }
            std::scoped_lock const held{guard_};
            seen_ = work_->health();
            if (!done) {
                seen_.trouble = {errc::out_of_memory, "no memory to send what was recorded: it is tried again"};
            }
        }
    }

    [[nodiscard]] static bool worth_another(error const& why) noexcept {
        return why.code == errc::io_error || why.code == errc::replaced;
    }

    mirror_options choices_;
    std::unique_ptr<upload> work_{};
    error refused_{};
    mutable std::mutex guard_{};
    std::condition_variable wake_{};
    mirror_health seen_{};
    bool ending_ = false;
    std::atomic<std::chrono::steady_clock::rep> late_{0};
    std::thread thread_{};
};

}  // namespace spotter::inline SPOTTER_ABI::s3
