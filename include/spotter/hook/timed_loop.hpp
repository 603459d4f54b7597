// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the clock of a hook's loop: when its steps begin and end, their sections, and how long each takes.
#pragma once

#include <spotter/hook/options.hpp>
#include <spotter/hook/sections.hpp>
#include <spotter/hook/switch.hpp>

namespace spotter::inline SPOTTER_ABI {

// The part of a hook that measures time; its public calls are the hook's.
class timed_loop {
public:
    // Times a named part of a step until the scope ends: `auto part = watch.section("data");`. It may stand before, in
    // or behind the step: all since the last close belongs to the step that is closed next. A nested section is known
    // by its path. The step's close keeps its time as the scalar `time/data`, in seconds. Costs two readings of the
    // clock.
    [[nodiscard]] section_scope section(std::string_view name) noexcept { return section_scope{book_, name}; }
    // The same without a scope: pairs with end_section; inner sections end first.
    void begin_section(std::string_view name) noexcept {
        if (book_ != nullptr) { book_->begin(name); }
    }
    // The innermost section must end first.
    void end_section(std::string_view name) noexcept {
        if (book_ != nullptr) { book_->end(name); }
    }

protected:
    timed_loop() noexcept = default;
    ~timed_loop() = default;

    // Before this call there are no sections. `writes`: the hook has a writer, which can run options::beside.
    void start_clock(registry& names, options const& chosen, bool writes) noexcept {
        idle_task_ = chosen.beside != nullptr && !writes;
        if (chosen.clock != nullptr) { clock_ = chosen.clock; }
        sections_.start(names, clock_, chosen.sections);
        book_ = &sections_;
    }
    void show_sections(section_watcher const* watcher) noexcept { sections_.show(watcher); }
    void step_begins() noexcept { moments_.begun = clock_(); }
    [[nodiscard]] step_moments const& moments() const noexcept { return moments_; }

    // Runs once: where a rule wants `time/step` and the loop does not observe it, the hook does: `declare(tensor,
    // view)`.
    template <class Judges, class Declare>
    void meet_time([[maybe_unused]] Judges& rules, [[maybe_unused]] registry& names,
                   [[maybe_unused]] Declare&& declare) noexcept {
        if constexpr (Judges::reads_times) {
            if (!std::exchange(met_, true)) { meet(rules, names, declare); }
        }
    }
    // Returns the clock's time; 0 without `always` where nothing needs it. Keeps the duration of the step and its
    // sections: `keep(tensor, seconds)`.
    template <class Keep>
    [[nodiscard]] double step_ends(bool always, Keep&& keep) noexcept {
        bool const asked = step_time_ != nullptr || !sections_.empty();
        if (!always && !asked) { return 0; }
        double const now = moments_.closed = clock_();
        went_back_ = went_back_ || now < closed_at_;
        if (asked) { keep_times(now, keep); }
        closed_at_ = now;
        any_closed_ = true;
        return now;
    }
    // Adds the errors of the clock and the sections.
    void add_time_troubles(failure_list& list) const noexcept {
        if (went_back_) { list.add({errc::bad_config, "options::clock went back; time during that is not counted"}); }
        if (idle_task_) { list.add({errc::bad_config, "options::beside is not called: this hook writes no record"}); }
        sections_.add_to(list);
    }

private:
    template <class Keep>
    void keep_times(double now, Keep& keep) noexcept {
        sections_.close(now, [&](tracked_tensor& it, float const& seconds) { keep(it, view_of(&seconds, {})); });
        if (step_time_ != nullptr && any_closed_) {
            double const seconds = now > closed_at_ ? now - closed_at_ : 0;
            keep(*step_time_, view_of(&seconds, {}));
        }
    }
    template <class Judges, class Declare>
    SPOTTER_NOINLINE void meet(Judges& rules, registry& names, Declare& declare) noexcept {
        if (names.find(step_time_name) != nullptr) { return; }
        double const none = 0;
        tensor_ref const view = view_of(&none, {});
        tracked_tensor probe;
        probe.info.id = static_cast<tensor_id>(names.size());
        probe.info.name = step_time_name;
        probe.info.role = role::timing;
        probe.info.flags = flag::unasked;
        probe.info.type = view.type;
        (void)probe.declare_to(rules);
        if (probe.rules == 0) { return; }
        step_time_ = names.find_or_add(step_time_name);
        if (step_time_ == nullptr) { return; }
        step_time_->info.flags = flag::unasked;
        declare(*step_time_, view);
    }

    double (*clock_)() noexcept = &detail::steady_seconds;
    section_book sections_{};
    section_book* book_ = nullptr;
    step_moments moments_{};               // of the current step
    tracked_tensor* step_time_ = nullptr;  // null: the hook does not observe it
    double closed_at_ = 0;                 // of the step before, where it is needed
    bool any_closed_ = false, met_ = false, went_back_ = false, idle_task_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI
