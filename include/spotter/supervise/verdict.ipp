// SPDX-License-Identifier: Apache-2.0
// The bodies of verdict.hpp.
#pragma once

#include <spotter/report/sentence.hpp>
#include <spotter/supervise/verdict.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY run_verdict verdict_of(launched const& told) {
    run_verdict it;
    switch (told.how) {
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
    it.said = it.cause + (told.why.empty() ? "" : ": " + told.why);
    return it;
}

SPOTTER_BODY result<run_verdict> verdict_of(trial const& run, launched const& told) {
    run_verdict it = verdict_of(told);
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
