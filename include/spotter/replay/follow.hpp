// SPDX-License-Identifier: Apache-2.0
// Replay (L5): applies rules to a run that is still being written, usually by another process.
#pragma once

#include <spotter/file/deadline.hpp>
#include <spotter/replay/replay.hpp>

#include <chrono>
#include <memory>
#include <thread>
#include <tuple>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Argument>
struct patience_in {
    static void take(Argument const&, std::chrono::steady_clock::time_point&) noexcept {}
};
template <class Rep, class Period>
struct patience_in<std::chrono::duration<Rep, Period>> {
    static void take(std::chrono::duration<Rep, Period> given, std::chrono::steady_clock::time_point& end) noexcept {
        end = deadline_in(given);
    }
};

}  // namespace detail

// Judges a live run piece by piece, for programs that do other work meanwhile (several runs, a screen); otherwise use
// `follow`. Arguments are those of `replay`; they and the run must outlive it. Where another run takes the place of the
// followed one, the rules and the report start afresh with it. A callable with a member `run_replaced()` is called
// first.
template <class... Arguments>
class follower {
public:
    explicit follower(trial& run, Arguments const&... arguments) noexcept : run_{run}, arguments_{arguments...} {}
    follower(follower const&) = delete;
    follower& operator=(follower const&) = delete;

    // Refreshes the run and judges what was closed since the last call; an error where it can no longer be read.
    error advance() {
        unreadable_ = run_.refresh();
        if (unreadable_.code == errc::replaced) { unreadable_ = {}; }
        if (std::exchange(run_known_, run_.replaced()) != run_.replaced()) {  // also if other code refreshed it
            judged_.clear();
            replay_report anew{};
            anew.replaced = report_.replaced + 1;
            report_ = std::move(anew);
            std::apply([](Arguments const&... each) { (detail::tell_replaced(each), ...); }, arguments_);
        }
        for (auto const& reader : run_.readers()) {
            auto it = std::find_if(judged_.begin(), judged_.end(),
                                   [&](auto const& each) { return each->number() == reader->number(); });
            std::apply(
                [&](Arguments const&... each) {
                    if (it == judged_.end()) {
                        judged_.push_back(std::make_unique<detail::judged_worker<Arguments...>>(*reader, each...));
                        it = judged_.end() - 1;
                    }
                    (*it)->advance(report_, false, each...);
                },
                arguments_);
        }
        return unreadable_;
    }
    // Runs the responses of a finding's rule, for a finding of the attempt that still goes on. Calls `report(error)`
    // for each.
    template <class Report>
    void respond(finding const& found, response_desk& desk, Report&& report) {
        for (auto const& each : judged_) {
            if (each->number() == found.worker) { each->respond(found, desk, report); }
        }
    }
    // The report so far; coverages and missing data are only known at the end.
    [[nodiscard]] replay_report const& so_far() const noexcept { return report_; }
    // Returns the final report; nothing is judged afterwards. Judges a step that the ended run left open: before the
    // end, the run might have been resumed.
    [[nodiscard]] replay_report const& conclude() {
        for (auto const& judged : judged_) {
            std::apply([&](Arguments const&... each) { judged->advance(report_, true, each...); }, arguments_);
        }
        if (unreadable_) { report_.trouble = unreadable_; }
        report_.whole = !unreadable_ && detail::nothing_lost(run_);
        for (auto const& each : judged_) { each->conclude(report_, judged_.size() > 1); }
        std::apply([&](Arguments const&... each) { (detail::tell_report(each, report_), ...); }, arguments_);
        return report_;
    }

private:
    trial& run_;
    std::tuple<Arguments const&...> arguments_;
    std::vector<std::unique_ptr<detail::judged_worker<Arguments...>>> judged_{};
    replay_report report_{};
    error unreadable_{};
    std::uint64_t run_known_ = run_.replaced();  // value of trial::replaced() for the current run
};

// Judges a live run: `follow(run, rules..., callables..., 30min)`. It judges the recorded steps first, then each step
// soon after it was closed and flushed, until no worker writes the run any more or the given time has passed (a
// std::chrono duration; default: no limit). Arguments, result and verdicts are those of `replay`: a rule sees the steps
// of a worker in order, and none after the one that it judges. Afterwards run.status() says how the run ended, or that
// it still goes on. An unreadable run ends it too: replay_report::trouble. Where another run takes its place, that one
// is judged from its beginning: replay_report::replaced. Refreshes `run` every 10 ms.
template <class... Arguments>
replay_report follow(trial& run, Arguments const&... arguments) {
    auto end = (std::chrono::steady_clock::time_point::max)();
    (detail::patience_in<Arguments>::take(arguments, end), ...);
    follower<Arguments...> watching{run, arguments...};
    for (;;) {
        bool const over = watching.advance() || run.over();
        if (over || std::chrono::steady_clock::now() >= end) { break; }
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return watching.conclude();
}

}  // namespace spotter::inline SPOTTER_ABI
