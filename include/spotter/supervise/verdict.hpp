// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): the verdict on a run from its record: stable, or what was wrong.
#pragma once

#include <spotter/trial/trial.hpp>

#include <optional>
#include <string>

namespace spotter::inline SPOTTER_ABI {

// How a training ended.
enum class departure : std::uint8_t {
    by_itself,      // it returned, or its process ended with 0
    failed,         // it threw, or its process ended with another number
    killed,         // by a signal; on Windows by the system, after an access violation for example
    timed_out,      // killed by the launcher at its time limit
    never_started,  // it could not be started
};

// The verdict on an attempt.
struct run_verdict {
    std::string cause{};  // the first rule that requested a stop, heeded or not; "timed_out", "died", "failed"; empty:
                          // stable
    std::string said{};   // in words, with line breaks
    step_id at{};         // where that rule fired; without one the first step
    std::uint64_t closed_steps = 0;  // in any mode, of all workers together

    // No rule requested a stop, and it ended by itself.
    [[nodiscard]] bool stable() const noexcept { return cause.empty(); }
    // The first line of `said`.
    [[nodiscard]] std::string line() const { return said.substr(0, said.find('\n')); }
};

// What a launcher returns of an attempt.
struct launched {
    std::string run{};                     // the folder of its record
    departure how = departure::by_itself;  // how it ended
    std::string why{};                     // in words, if it did not end by itself: "ended with 3"
    std::optional<run_verdict> judged{};   // set by a launcher that judged it from outside: then the record is not
                                           // judged

    launched() = default;
    launched(std::string folder) : run{std::move(folder)} {}
    launched(std::string folder, departure left, std::string reason)
        : run{std::move(folder)}, how{left}, why{std::move(reason)} {}
};

// A finding that requested a stop comes first, then how the training ended, then how the record ended. Only a run that
// finished and was judged is stable. errc: not_yet (the run goes on), no_more_data (no rule judged anything), corrupt
// (the readable part of a damaged record has no request to stop).
[[nodiscard]] result<run_verdict> verdict_of(trial const& run, launched const& launch = {});

// The same without a readable record: only for a training that did not end by itself.
[[nodiscard]] run_verdict verdict_of(launched const& launch);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/sentence.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY run_verdict verdict_of(launched const& launch) {
    run_verdict it;
    switch (launch.how) {
        case departure::timed_out:
            it.cause = "timed_out";
            break;
        case departure::killed:
            it.cause = "died";
            break;
        case departure::failed:
        case departure::never_started:
            it.cause = "failed";
            break;
        case departure::by_itself:
            return it;
    }
    it.said = it.cause + (launch.why.empty() ? "" : ": " + launch.why);
    return it;
}

SPOTTER_BODY result<run_verdict> verdict_of(trial const& run, launched const& launch) {
    run_verdict it = verdict_of(launch);
    it.closed_steps = run.closed_steps();
    for (finding const& each : run.findings()) {
        if (each.decision != decision::stop) { continue; }
        it.cause = each.rule;
        it.said = detail::sentence_of<std::string>(each);
        it.at = each.step;
        return it;
    }
    if (!it.stable()) { return it; }
    if (!run.damage().empty()) {
        return {
            errc::corrupt,
            "a part of the record cannot be read, and what is left of it asks for no stop: `spotter verify` lists it"};
    }
    switch (run.status()) {
        case run_status::running:
            return {errc::not_yet, "the run goes on: finish() the hook, or let it end, before the attempt is over"};
        case run_status::failed:
            it.cause = "failed";
            break;
        case run_status::died:
            it.cause = "died";
            break;
        case run_status::finished:
            break;
    }
    if (!it.stable()) {
        std::string_view const why = run.why_ended();
        it.said = it.cause + (why.empty() ? "" : ": " + std::string{why});
        return it;
    }
    std::uint64_t judged = 0;
    for (recorded_coverage const& each : run.coverages()) { judged += each.judged; }
    if (judged == 0) {
        return {errc::no_more_data,
                "no rule judged anything in this run: give its hook rules, and show it what they look at"};
    }
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
