// SPDX-License-Identifier: Apache-2.0
// Report (L5): a whole run as text: how it ended, what was kept and dropped, what rules found, and which rules could
// not run.
#pragma once

#include <spotter/core/plural.hpp>
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

#if SPOTTER_BODIES
#include <spotter/report/summary.ipp>
#endif
