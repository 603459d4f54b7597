// SPDX-License-Identifier: Apache-2.0
// Replay (L5): rules over a run that is still being written, usually by another process.
#pragma once

#include <spotter/replay/replay.hpp>

#include <chrono>
#include <memory>
#include <thread>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Argument>
struct patience_in {
    static void take(Argument const&, std::optional<std::chrono::nanoseconds>&) noexcept {}
};
template <class Rep, class Period>
struct patience_in<std::chrono::duration<Rep, Period>> {
    static void take(std::chrono::duration<Rep, Period> given, std::optional<std::chrono::nanoseconds>& into) noexcept {
        into = std::chrono::duration_cast<std::chrono::nanoseconds>(given);
    }
};

}  // namespace detail

// Judges a live run: `follow(run, rules..., callables..., 30min)`. First what it holds already, then each step soon after it was
// closed and flushed, until no worker writes it any more or the given time has passed (a std::chrono duration; without one it has
// all the time). Arguments and outcome are those of `replay`, and so are the verdicts: a rule sees the steps of a worker in their
// order, and none after the one that it judges, whatever is written meanwhile. run.status() tells afterwards how the run ended, or
// that it still goes on. A run that can no longer be read ends it, too: replay_report::trouble. Refreshes `run` every 10 ms.
template <class... Arguments>
replay_report follow(trial& run, Arguments const&... arguments) {
    std::optional<std::chrono::nanoseconds> patience{};
    (detail::patience_in<Arguments>::take(arguments, patience), ...);
    auto const begin = std::chrono::steady_clock::now();
    std::vector<std::unique_ptr<detail::judged_worker<Arguments...>>> judged;
    replay_report report;
    for (;;) {
        report.trouble = run.refresh();
        bool const last =
            report.trouble || run.over() || (patience && std::chrono::steady_clock::now() - begin >= *patience);
        for (auto const& reader : run.readers()) {
            auto it = std::find_if(judged.begin(), judged.end(),
                                   [&](auto const& each) { return each->number() == reader->number(); });
            if (it == judged.end()) {
                judged.push_back(std::make_unique<detail::judged_worker<Arguments...>>(*reader, arguments...));
                it = judged.end() - 1;
            }
            (*it)->advance(report, arguments...);
        }
        if (last) { break; }
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    report.whole = !report.trouble && detail::nothing_lost(run);
    for (auto const& each : judged) { each->conclude(report, judged.size() > 1); }
    (detail::tell_report(arguments, report), ...);
    return report;
}

}  // namespace spotter::inline SPOTTER_ABI
