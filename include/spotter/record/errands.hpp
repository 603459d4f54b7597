// SPDX-License-Identifier: Apache-2.0
// Record (L4): what the writer does beside writing: requests from outside, the loop's section, options::beside.
#pragma once

#include <spotter/core/loop_marks.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/text.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/layout.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/hook/sections.hpp>
#include <spotter/hook/writer_task.hpp>
#include <spotter/record/clock.hpp>
#include <spotter/record/control_file.hpp>

#include <atomic>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Detects that a loop stays in one section for long; used by the writer. Checks at most ten times a second: each check
// takes a cache line from the loop.
class stay_watch {
public:
    // If a report is due (after 2 s, 20 s, 200 s, …): how many milliseconds the loop has been in `section`; otherwise
    // 0. `now` in milliseconds of a steady clock.
    [[nodiscard]] std::uint64_t look(loop_marks const& at, std::uint64_t now, std::string_view& section) noexcept {
        if (now < next_look_) { return 0; }
        next_look_ = now + milliseconds_between;
        std::uint64_t const state = at.state();
        if (state != state_) {
            state_ = state, since_ = now, tell_after_ = first_milliseconds;
            return 0;
        }
        section = at.section(state);
        if (section.empty() || now - since_ < tell_after_) { return 0; }
        tell_after_ *= 10;
        return now - since_;
    }

private:
    static constexpr std::uint64_t milliseconds_between = 100, first_milliseconds = 2000;

    std::uint64_t state_ = 0, since_ = 0, next_look_ = 0, tell_after_ = first_milliseconds;
};

// The loop enters and leaves sections through `watcher`. The marks are in own memory, or in a ring that outlives the
// process.
class loop_place {
public:
    loop_place() noexcept = default;
    loop_place(loop_place const&) = delete;
    loop_place& operator=(loop_place const&) = delete;

    // The loop reports its sections to it.
    [[nodiscard]] section_watcher const* watcher() const noexcept { return &watcher_; }
    // From now on the marks are in `elsewhere`.
    void stand_in(loop_marks& elsewhere) noexcept { watcher_.marks = &elsewhere; }
    void stand_here() noexcept { watcher_.marks = &own_; }  // `elsewhere` is about to be freed

    // For the writer: the result of stay_watch::look.
    [[nodiscard]] std::uint64_t look(std::uint64_t now, std::string_view& section) noexcept {
        return stay_.look(*static_cast<loop_marks const*>(watcher_.marks), now, section);
    }

private:
    static void meet(void* marks, std::size_t section, std::string_view name) noexcept {
        static_cast<loop_marks*>(marks)->meet(section, name);
    }
    static void enter(void* marks, std::size_t section) noexcept {
        auto& here = *static_cast<loop_marks*>(marks);
        section == ~std::size_t{0} ? here.leave() : here.enter(section);
    }

    loop_marks own_{};
    section_watcher watcher_{&own_, &loop_place::meet, &loop_place::enter};
    stay_watch stay_{};
};

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

// The writer looks for the file; the training thread reads an atomic. All workers of a run obey the same file. Its text
// is the reason.
class stop_file {
public:
    // `folder`: the worker's. A file that is already there was meant for an earlier attempt: worker 0 removes it, the
    // others ignore it until it is gone.
    SPOTTER_COLD stop_file(file_system& files, std::string_view folder, std::uint32_t worker) noexcept
        : files_{files}, path_{detail::run_folder_of(folder, worker), layout::stop_name} {
        stale_ = is_there();
        if (stale_ && worker == 0) { note(files_.remove(path_)); }
    }

    stop_file(stop_file const&) = delete;
    stop_file& operator=(stop_file const&) = delete;

    // Called by the writer: looks at the disk at most ten times a second. `now` in milliseconds of a steady clock.
    SPOTTER_COLD void look(std::uint64_t now) noexcept {
        if (now - last_look_ < milliseconds_between) { return; }
        last_look_ = now;
        bool const there = is_there();
        stale_ = stale_ && there;
        bool const asks = there && !stale_;
        if (asks && !read_ && !read()) { return; }
        asked_.store(asks, std::memory_order_release);
    }

    // The first error; for the writer.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

    // Any thread. False again once the file is gone.
    [[nodiscard]] bool asked() const noexcept { return asked_.load(std::memory_order_acquire); }
    // While asked() is true: the first line of the first such file; may be empty.
    [[nodiscard]] std::string_view reason() const noexcept { return reason_.view(); }

private:
    static constexpr std::uint64_t milliseconds_between = 100;
    static constexpr std::size_t longest_reason = 160;

    [[nodiscard]] SPOTTER_COLD bool is_there() noexcept {
        auto const kind = files_.kind_of(path_);
        if (kind && *kind != path_kind::file && *kind != path_kind::missing) {
            error why{errc::unwritable, "`stop` in the run's folder is no file, and stops nothing: "};
            std::string_view const path = path_.view();
            why.what << path.substr(path.size() > 120 ? path.size() - 120 : 0);
            note(why);
        }
        note(kind.error());
        return kind && *kind == path_kind::file;
    }

    SPOTTER_COLD void note(error const& why) noexcept {
        if (!trouble_) { trouble_ = why; }
    }

    // Reads the reason, once; afterwards the other thread may read it. False if the file is still empty: a later look
    // may find the reason.
    [[nodiscard]] SPOTTER_COLD bool read() noexcept {
        char letters[longest_reason];
        auto const size = files_.read(path_, 0, std::as_writable_bytes(std::span{letters}));
        if (size && *size == 0 && !std::exchange(was_empty_, true)) { return false; }
        read_ = true;
        note(size.error());
        std::string_view const all{letters, size ? *size : 0};
        reason_ << all.substr(0, all.find_first_of("\r\n"));
        return true;
    }

    file_system& files_;
    path_text path_;
    text<longest_reason> reason_{};
    error trouble_{};
    std::uint64_t last_look_ = 0;
    bool stale_ = false, read_ = false, was_empty_ = false;
    std::atomic<bool> asked_{false};
};

// The tasks beside writing, in the order in which they are checked. Each has its own interval.
struct writer_errands {
    stop_file stop;             // stop requests
    control_file control;       // other requests
    day_clock_watch day_clock;  // jumps of the time of day
    loop_place place{};         // a loop that stays in a section
    beside_task beside;         // options::beside
};

}  // namespace spotter::inline SPOTTER_ABI
