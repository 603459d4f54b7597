// SPDX-License-Identifier: Apache-2.0
// Report (L5): a whole run as text: how it ended, what was kept and dropped, what rules found, and which rules could
// not run.
#pragma once

#include <spotter/report/format.hpp>
#include <spotter/report/losses.hpp>
#include <spotter/rule/list.hpp>
#include <spotter/trial/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A rule of the catalogue that is given by itself and in a pack judges once, and is one rule; it fired as often as the
// one of the two that did so more often.
template <class Coverage>
[[nodiscard]] std::vector<Coverage> distinct_rules(std::vector<Coverage> const& all) {
    std::vector<Coverage> found;
    for (Coverage const& it : all) {
        auto const same = std::find_if(found.begin(), found.end(), [&](Coverage const& each) {
            if constexpr (requires { it.workers; }) {
                if (each.worker != it.worker || each.workers != it.workers) { return false; }
            }
            return each.rule == it.rule && rule_id_named(it.rule) != rule_id::other && each.reason == it.reason &&
                   each.matched == it.matched && each.judged == it.judged && each.undecided == it.undecided;
        });
        if (same == found.end()) {
            found.push_back(it);
        } else {
            same->fired = (std::max)(same->fired, it.fired);
        }
    }
    return found;
}

template <class Coverage>
[[nodiscard]] std::string describe_coverage(std::vector<Coverage> const& all) {
    std::string lines;
    bool headed = false;
    for (Coverage const& each : distinct_rules(all)) {
        if (each.reason.empty()) { continue; }
        if (!std::exchange(headed, true)) { lines += "could not run:\n"; }
        lines += fmt::format("    {}", each.rule);
        if constexpr (requires { each.worker; }) {
            if (each.workers > 1) {
                lines += fmt::format(" in {} workers, the first {}", each.workers, each.worker);
            } else if (each.worker > 0) {
                lines += fmt::format(" in worker {}", each.worker);
            }
        }
        lines += fmt::format(": {}\n", each.reason);
    }
    return lines;
}
// What a side-by-side replay could not compare because some stream lacks it.
[[nodiscard]] std::string describe_unpaired(std::vector<std::string> const& names, std::vector<step_id> const& steps);
[[nodiscard]] std::string describe_findings(std::vector<finding> const& all);

// Says "healthy" only if the rules could judge, with all the data that they needed.
template <class Coverage>
[[nodiscard]] std::string describe_verdict(std::vector<finding> const& findings, std::vector<Coverage> const& all,
                                           bool whole = true) {
    if (!findings.empty()) { return fmt::format("findings:\n{}", describe_findings(findings)); }
    std::vector<Coverage> const coverages = distinct_rules(all);
    std::size_t judging = 0;
    for (Coverage const& each : coverages) { judging += each.judged > 0 && each.reason.empty() ? 1U : 0U; }
    if (coverages.empty()) { return "no rule was asked\n"; }
    if (judging == 0) { return "no rule could judge\n"; }
    if (judging < coverages.size()) {
        return fmt::format("nothing found by the {} of {} rules that could judge\n", judging, coverages.size());
    }
    return fmt::format("{}nothing found by {}{}\n", whole ? "healthy: " : "", plural(judging, "rule").view(),
                       whole ? "" : " in what was recorded");
}

}  // namespace detail

// The names that hooks refused, each with its reason and the call that accepts it, as recorded when the hooks ended:
// `"w" is a permuted view, ...`.
[[nodiscard]] std::vector<std::string> refused_names(trial const& run);
// A run, from its record.
[[nodiscard]] std::string describe(trial const& run);

// A replay's result; takes any struct with steps, fired, findings, coverages, trouble and whole (replay_report).
template <class Report>
    requires requires(Report const& it) { it.steps, it.fired, it.findings, it.coverages, it.trouble, it.whole; }
[[nodiscard]] std::string describe(Report const& it) {
    std::string lines = fmt::format("{} judged, {} with findings\n", detail::plural(it.steps, "step").view(), it.fired);
    lines += detail::describe_verdict(it.findings, it.coverages, it.whole);
    lines += detail::describe_coverage(it.coverages);
    if constexpr (requires { it.unpaired_names, it.unpaired_steps; }) {
        lines += detail::describe_unpaired(it.unpaired_names, it.unpaired_steps);
    }
    if (it.trouble) { lines += fmt::format("trouble: {}\n", spotter::describe(it.trouble)); }
    if (!it.whole) { lines += "the record lacks data that these rules need: in the loop they may have found more\n"; }
    return lines;
}

// For replay(run, rules..., print_report): prints the result to standard output.
struct print_report_t {
    template <class Report>
        requires requires(Report const& it) { it.steps, it.fired, it.findings, it.coverages, it.trouble, it.whole; }
    void operator()(Report const& it) const {
        std::string const lines = describe(it);
        std::fwrite(lines.data(), 1, lines.size(), stdout);
    }
};
inline constexpr print_report_t print_report{};  // an argument of `replay`

}  // namespace spotter::inline SPOTTER_ABI

template <>
struct fmt::formatter<spotter::trial> : spotter::detail::described {};

namespace spotter::inline SPOTTER_ABI::detail {

// How many tensors a collection of the run has: "3 names", or "no tensor matched".
[[nodiscard]] std::string members_text(trial const& run, std::string_view collection);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/plain.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/hook/health.hpp>
#include <spotter/report/describe.hpp>
#include <spotter/report/gathered.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY std::string members_text(trial const& run, std::string_view collection) {
    std::size_t const count = run.names(filter{.collection = collection}).size();
    return count == 0 ? "no tensor matched" : std::string{plural(count, "name").view()};
}

// The workers, unless there is only one without a number, and those whose state differs from the run's.
[[nodiscard]] SPOTTER_BODY std::string describe_workers(trial const& run) {
    std::vector<std::uint32_t> const numbers = run.workers();
    if (numbers.size() < 2 && run.expected_workers() < 2) { return {}; }
    std::string lines = fmt::format("workers:");
    for (auto const& each : run.readers()) {
        lines += fmt::format(" {}", each->number());
        if (each->status() != run.status()) { lines += fmt::format(" ({})", name_of(each->status())); }
    }
    if (run.expected_workers() > numbers.size()) { lines += fmt::format(" of {} expected", run.expected_workers()); }
    return lines + '\n';
}

SPOTTER_BODY std::string describe_unpaired(std::vector<std::string> const& names, std::vector<step_id> const& steps) {
    std::string lines;
    if (!names.empty()) {
        lines += fmt::format("not in every stream: {}:", plural(names.size(), "tensor").view());
        for (std::size_t i = 0; i < names.size() && i < 8; ++i) { lines += fmt::format(" \"{}\"", names[i]); }
        lines += names.size() > 8 ? " ...\n" : "\n";
    }
    if (!steps.empty()) {
        lines += fmt::format("not in every stream: {}, the first {}\n", plural(steps.size(), "step").view(),
                             spotter::describe(steps.front()));
    }
    return lines;
}

SPOTTER_BODY std::string describe_findings(std::vector<finding> const& all) {
    std::string lines;
    for (repeated_finding const& each : gather_findings(all)) {
        lines += fmt::format("  {}\n", spotter::describe(each.strongest));
        if (each.times > 1) { lines += fmt::format("    {}\n", describe_times(each)); }
    }
    return lines;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::vector<std::string> refused_names(trial const& run) {
    std::vector<std::string> names;
    for (std::uint32_t const number : run.workers()) {
        for (loose_scalar const& each : run[refused_event].of(worker{number}).loose()) {
            std::string name;
            put_plain(each.bytes, [&](std::string_view piece) { name += piece; });
            if (std::find(names.begin(), names.end(), name) == names.end()) { names.push_back(std::move(name)); }
        }
    }
    return names;
}

SPOTTER_BODY std::string describe(trial const& run) {
    run_totals const& totals = run.totals();
    std::string lines = fmt::format("{}: {}", run.path(), name_of(run.status()));
    if (!run.why_ended().empty()) { lines += fmt::format(" ({})", run.why_ended()); }
    lines += fmt::format(", {}", detail::plural(run.closed_steps(), "step").view());
    if (run.readers().size() > 1) { lines += " of all workers"; }
    for (mode const which : run.modes()) {
        lines += fmt::format(", {} {} with something kept", run.steps(which).size(), name_of(which));
    }
    lines += '\n' + detail::describe_workers(run);
    lines += fmt::format("kept: {} in {}", detail::plural(run.names().size(), "tensor").view(),
                         detail::bytes_text(totals.bytes));
    lines += fmt::format("; dropped: {}", totals.dropped);
    if (totals.thinned > 0) { lines += fmt::format(", {} without their values", totals.thinned); }
    if (totals.refused > 0) { lines += fmt::format("; refused: {}", totals.refused); }
    lines += '\n';
    for (std::string const& each : refused_names(run)) { lines += fmt::format("    refused: {}\n", each); }
    for (recorded_collection const& each : run.collections()) {
        lines += fmt::format("    {} ({}): {}\n", each.name, detail::shortened(each.what).view(),
                             detail::members_text(run, each.name));
    }
    for (damaged_place const& each : run.damage()) {
        lines +=
            fmt::format("damaged: {} at {} of {}\n", detail::plural(each.bytes, "byte").view(), each.offset, each.file);
    }
    if (run_losses const lost = run.losses(); lost.steps > 0 || !lost.ends.empty()) {
        lines += fmt::format("lost: {}\n", describe(lost));
    }
    bool const ended = run.status() == run_status::finished || run.status() == run_status::failed;
    if (!ended && run.findings().empty()) {
        return lines + "no finding so far; whether the rules could judge is known at the end of a run\n";
    }
    lines += detail::describe_verdict(run.findings(), run.coverages());
    return lines + detail::describe_coverage(run.coverages());
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
