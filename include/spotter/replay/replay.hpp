// SPDX-License-Identifier: Apache-2.0
// Replay (L5): applies rules to a record, as to the same events in the loop.
#pragma once

#include <spotter/replay/recorded_stream.hpp>
#include <spotter/trial/step_list.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Reads the rows of one worker's record in the order of writing, and calls the rules as a hook would.
template <class Judges>
class player {
public:
    player(worker_index const& run, Judges& judges) : run_{run}, events_{run}, at_{judges}, stream_{run, at_} {}
    player(player const&) = delete;
    player& operator=(player const&) = delete;

    // Continues after what was played, up to the last closed step; with `to_the_end`, for a run that has ended, also
    // the step that was left open. `admit(step)`: whether the rules see that step. Calls `deliver(finding)` for each
    // finding, `closed(step, alarm)` after each judged step, `left(step, alarm)` after each step in which an attempt
    // ended, and `restart()` where a further attempt begins and the rules start afresh.
    template <class Admit, class Deliver, class Closed, class Left, class Restart>
    error play(bool to_the_end, Admit const& admit, Deliver&& deliver, Closed&& closed, Left&& left,
               Restart&& restart) {
        auto const leave = [&] {
            stream_.close();
            if (!at_.is_open()) { return; }
            step_id const step = at_.step();
            step_alarm found;
            at_.close(step, time_, found, deliver);
            left(step, found);
        };
        events_.advance([&] { return to_the_end || played_ < run_.steps().size(); },
                        recorded_sink{[&](recorded_attempt) {
                                          leave();
                                          restart();
                                          stream_.restart();
                                          at_.restart();
                                      },
                                      [&](rows::close const& end) {
                                          stream_.close();
                                          ++played_;
                                          time_ = end.time;
                                          if (!admit(end.step)) { return; }
                                          stream_.time(end.step, end.ordinal, admit);
                                          step_alarm found;
                                          at_.close(end.step, end.time, found, deliver);
                                          closed(end.step, found);
                                      },
                                      stream_.sink(admit)});
        if (to_the_end) {
            time_ = (std::max)(time_, run_.ended_at());
            leave();
        }
        return stream_.trouble();
    }
    // What rules needed and was not recorded: how often, and where first.
    [[nodiscard]] error lacking() const noexcept { return stream_.lacking(); }
    [[nodiscard]] recorded_stream<Judges> const& stream() const noexcept { return stream_; }

private:
    worker_index const& run_;
    recorded_events events_;
    judged_step<Judges> at_;
    recorded_stream<Judges> stream_;
    std::uint64_t played_ = 0;  // closes
    double time_ = 0;           // of the last close
};

}  // namespace detail

// What rules asked for of a tensor, and the record lacks.
struct lacking_data {
    std::string_view tensor{};              // its name
    stats_mask missing = stats_mask::none;  // at any of these:
    std::uint64_t times = 0;                // observations of it
    step_id first{};                        // the step of the first
};

// The result of a replay. Texts live as long as the trial and the rules' literals.
struct replay_report {
    std::uint64_t steps = 0;            // judged ones
    std::uint64_t fired = 0;            // judged steps with a finding
    std::uint64_t open = 0;             // judged steps that were never closed: judged by what was recorded
    std::vector<finding> findings{};    // all findings, in order; one worker after the other
    std::vector<coverage> coverages{};  // over all attempts and workers
    error trouble{};  // a malformed pattern, a rule that threw, a damaged record, or data that a rule needed and was
                      // not recorded
    std::uint64_t observations = 0;       // that some rule saw
    std::vector<lacking_data> lacking{};  // of each worker's tensors
    // How often another run took its place while it was followed; everything else is about the last one.
    std::uint64_t replaced = 0;
    bool whole = true;  // false: observations were dropped, damaged or not recorded, so verdicts may differ from those
                        // in the loop
};

namespace detail {

template <class Argument>
void tell_alarm(Argument const& argument, step_alarm const& found) {
    if constexpr (requires { argument(found); }) { argument(found); }
}
template <class Argument>
void tell_finding(Argument const& argument, finding const& found) {
    if constexpr (requires { argument(found); }) { argument(found); }
}
template <class Argument>
void tell_attempt(Argument const& argument, std::uint32_t worker) {
    if constexpr (requires { argument.attempt_begins(worker); }) { argument.attempt_begins(worker); }
}
template <class Argument>
void tell_replaced(Argument const& argument) {
    if constexpr (requires { argument.run_replaced(); }) { argument.run_replaced(); }
}
template <class Argument, class Report>
void tell_report(Argument const& argument, Report const& report) {
    if constexpr (requires { argument(report); }) { argument(report); }
}
template <class Argument>
[[nodiscard]] bool admits_step(Argument const& argument, step_id step) {
    if constexpr (policy<Argument>) {
        return argument(step);
    } else {
        return true;
    }
}
// Adds up the counts of several attempts and workers.
inline void join_coverage(std::vector<coverage>& all, std::size_t place, coverage const& each) {
    if (place == all.size()) { return all.push_back(each); }
    coverage& into = all[place];
    into.matched = (std::max)(into.matched, each.matched);
    into.judged += each.judged;
    into.undecided += each.undecided;
    into.fired += each.fired;
    into.reason = each.judged == 0 && into.judged > 0 ? into.reason : each.reason;
}

template <class Stream>
void note_lacking(replay_report& report, Stream const& from) {
    report.observations += from.judged();
    from.each_lack([&](std::string_view tensor, stats_mask missing, std::uint64_t times, step_id first) {
        report.lacking.push_back({tensor, missing, times, first});
    });
}

// The rules for one worker's record, with their own state.
template <class... Arguments>
class judged_worker {
public:
    judged_worker(worker_reader const& from, Arguments const&... arguments)
        : from_{from}, number_{from.number()}, judges_{std::in_place, arguments...}, player_{from.index(), *judges_} {
        judges_->belong_to(number_);
    }
    judged_worker(judged_worker const&) = delete;
    judged_worker& operator=(judged_worker const&) = delete;

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    // Judges what was closed since the last call. `at_the_end`: also the step that was left open, if no process writes
    // the run any more.
    void advance(replay_report& report, bool at_the_end, Arguments const&... arguments) {
        auto const judged = [&](step_id, step_alarm const& found) {
            ++report.steps;
            if (found.empty()) { return; }
            ++report.fired;
            report.findings.insert(report.findings.end(), found.begin(), found.end());
            (tell_alarm(arguments, found), ...);
        };
        broken_ = player_.play(
            at_the_end && !from_.running(),
            [&]([[maybe_unused]] step_id step) { return (admits_step(arguments, step) && ... && true); },
            [&](finding const& each) { (tell_finding(arguments, each), ...); }, judged,
            [&](step_id step, step_alarm const& found) {
                ++report.open;
                judged(step, found);
            },
            [&] {
                (tell_attempt(arguments, number_), ...);
                gather(report, false);
                judges_.emplace(arguments...);
                judges_->belong_to(number_);
            });
    }
    template <class Report>
    void respond(finding const& found, response_desk& desk, Report&& report) {
        judges_->respond(found, desk, report);
    }
    // Completes the report; with `tell`, trouble names the worker.
    void conclude(replay_report& report, bool tell) {
        gather(report, tell);
        error const lacking = player_.lacking();
        note_lacking(report, player_.stream());
        note(report, broken_ ? broken_ : lacking, tell);
        report.whole = report.whole && !broken_ && !lacking;
    }

private:
    void gather(replay_report& report, bool tell) {
        std::size_t place = 0;
        judges_->report([&](coverage const& each) { join_coverage(report.coverages, place++, each); });
        note(report, judges_->trouble(), tell);
    }
    void note(replay_report& report, error const& why, bool tell) const noexcept {
        if (!why || report.trouble) { return; }
        report.trouble.code = why.code;
        if (tell) { report.trouble.what << "worker " << number_ << ": "; }
        report.trouble.what << why.what.view();
    }

    worker_reader const& from_;
    std::uint32_t number_;
    std::optional<judges<Arguments...>> judges_;
    player<judges<Arguments...>> player_;
    error broken_{};
};

[[nodiscard]] inline bool nothing_lost(trial const& run) { return !run.losses().any(); }

}  // namespace detail

// Judges a record by rules, in one pass. Arguments, in any order:
// - rules;
// - policies, which limit the steps that the rules see (their state starts fresh at the first);
// - callables that take a `step_alarm const&` (for each step with a finding), a `finding const&` (when its rule was
//   judged) or a `replay_report const&` (once, at the end). One with a member `attempt_begins(worker)` is called where
//   a worker's part of the run was resumed.
// For rules that ran in the loop the verdicts are the same, one for one, as long as nothing was dropped. Responses do
// not run (but see follower::respond). It reads values only where a rule needs what was not stored. A step that was
// left open, by an exception or a kill, is judged by what was recorded; not so while the run still goes on. In a
// resumed run the rules start afresh with each attempt, as they did in the loop. Workers are judged separately, one
// after the other; finding::worker names them.
template <class... Arguments>
replay_report replay(trial const& run, Arguments const&... arguments) {
    replay_report report;
    for (auto const& each : run.readers()) {
        detail::judged_worker<Arguments...> judged{*each, arguments...};
        judged.advance(report, true, arguments...);
        judged.conclude(report, run.readers().size() > 1);
    }
    report.whole = report.whole && detail::nothing_lost(run);
    (detail::tell_report(arguments, report), ...);
    return report;
}

}  // namespace spotter::inline SPOTTER_ABI
