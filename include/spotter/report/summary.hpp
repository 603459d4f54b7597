// SPDX-License-Identifier: Apache-2.0
// Report (L5): a whole run as text: how it ended, what was kept and dropped, what rules found and which could not run.
#pragma once

#include <spotter/report/bytes.hpp>
#include <spotter/report/gathered.hpp>
#include <spotter/report/losses.hpp>
#include <spotter/trial/trial.hpp>

#include <cstdio>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Coverage>
[[nodiscard]] std::string describe_coverage(std::vector<Coverage> const& all) {
    std::string lines;
    bool headed = false;
    for (Coverage const& each : all) {
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
// Which workers there are, where it is not one without a number, and how those are that are not what the whole run is.
[[nodiscard]] inline std::string describe_workers(trial const& run) {
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
// What side by side was not compared, because some stream lacks it.
[[nodiscard]] inline std::string describe_unpaired(std::vector<std::string> const& names,
                                                   std::vector<step_id> const& steps) {
    std::string lines;
    if (!names.empty()) {
        lines += fmt::format("not in every stream: {} tensor{}:", names.size(), names.size() == 1 ? "" : "s");
        for (std::size_t i = 0; i < names.size() && i < 8; ++i) { lines += fmt::format(" \"{}\"", names[i]); }
        lines += names.size() > 8 ? " ...\n" : "\n";
    }
    if (!steps.empty()) {
        lines += fmt::format("not in every stream: {} step{}, the first {}\n", steps.size(),
                             steps.size() == 1 ? "" : "s", spotter::describe(steps.front()));
    }
    return lines;
}
[[nodiscard]] inline std::string describe_findings(std::vector<finding> const& all) {
    std::string lines;
    for (repeated_finding const& each : gather_findings(all)) {
        lines += fmt::format("  {}\n", spotter::describe(each.strongest));
        if (each.times > 1) { lines += fmt::format("    {}\n", describe_times(each)); }
    }
    return lines;
}

// "healthy" is said only of rules that could judge, and of all that they asked for.
template <class Coverage>
[[nodiscard]] std::string describe_verdict(std::vector<finding> const& findings, std::vector<Coverage> const& coverages,
                                           bool whole = true) {
    if (!findings.empty()) { return fmt::format("findings:\n{}", describe_findings(findings)); }
    std::size_t judging = 0;
    for (Coverage const& each : coverages) { judging += each.judged > 0 && each.reason.empty() ? 1 : 0; }
    if (coverages.empty()) { return "no rule was asked\n"; }
    if (judging == 0) { return "no rule could judge\n"; }
    if (judging < coverages.size()) {
        return fmt::format("nothing found by the {} of {} rules that could judge\n", judging, coverages.size());
    }
    return fmt::format("{}nothing found by {} rule{}{}\n", whole ? "healthy: " : "", judging, judging == 1 ? "" : "s",
                       whole ? "" : " in what was recorded");
}

}  // namespace detail

// A run as its record tells it.
[[nodiscard]] inline std::string describe(trial const& run) {
    run_totals const& totals = run.totals();
    std::string lines = fmt::format("{}: {}", run.path(), name_of(run.status()));
    if (!run.why_ended().empty()) { lines += fmt::format(" ({})", run.why_ended()); }
    lines += fmt::format(", {} steps", run.closed_steps());
    if (run.readers().size() > 1) { lines += " of all workers"; }
    for (mode const which : run.modes()) {
        lines += fmt::format(", {} {} with something kept", run.steps(which).size(), name_of(which));
    }
    lines += '\n' + detail::describe_workers(run);
    lines += fmt::format("kept: {} tensors in {}", run.names().size(), detail::bytes_text(totals.bytes));
    lines += fmt::format("; dropped: {}", totals.dropped);
    if (totals.thinned > 0) { lines += fmt::format(", {} without their values", totals.thinned); }
    if (totals.refused > 0) { lines += fmt::format("; refused: {}", totals.refused); }
    lines += '\n';
    for (recorded_collection const& each : run.collections()) {
        lines += fmt::format("    {} ({}): {} names\n", each.name, each.what,
                             run.names(filter{.collection = each.name}).size());
    }
    for (damaged_place const& each : run.damage()) {
        lines += fmt::format("damaged: {} bytes at {} of {}\n", each.bytes, each.offset, each.file);
    }
    if (run_losses const lost = run.losses(); lost.steps > 0 || !lost.ends.empty()) {
        lines += fmt::format("lost: {}\n", describe(lost));
    }
    bool const ended = run.status() == run_status::finished || run.status() == run_status::failed;
    if (!ended && run.findings().empty()) {
        return lines + "no finding so far; whether the rules could judge is only told at the end of a run\n";
    }
    lines += detail::describe_verdict(run.findings(), run.coverages());
    return lines + detail::describe_coverage(run.coverages());
}

// A replay's outcome; takes any struct with steps, fired, findings, coverages, trouble and whole (replay_report).
template <class Report>
requires requires(Report const& it) { it.steps, it.fired, it.findings, it.coverages, it.trouble, it.whole; }
[[nodiscard]] std::string describe(Report const& it) {
    std::string lines = fmt::format("{} steps judged, {} with findings\n", it.steps, it.fired);
    lines += detail::describe_verdict(it.findings, it.coverages, it.whole);
    lines += detail::describe_coverage(it.coverages);
    if constexpr (requires { it.unpaired_names, it.unpaired_steps; }) {
        lines += detail::describe_unpaired(it.unpaired_names, it.unpaired_steps);
    }
    if (it.trouble) { lines += fmt::format("trouble: {}\n", spotter::describe(it.trouble)); }
    if (!it.whole) {
        lines += "the record does not hold all that these rules ask for: in the loop they may have said otherwise\n";
    }
    return lines;
}

// For replay(run, rules..., print_report): prints the outcome to standard output.
struct print_report_t {
    template <class Report>
    requires requires(Report const& it) { it.steps, it.fired, it.findings, it.coverages, it.trouble, it.whole; }
    void operator()(Report const& it) const {
        std::string const lines = describe(it);
        std::fwrite(lines.data(), 1, lines.size(), stdout);
    }
};
inline constexpr print_report_t print_report{};

}  // namespace spotter::inline SPOTTER_ABI

template <>
struct fmt::formatter<spotter::trial> : fmt::formatter<std::string> {
    template <class Context>
    auto format(spotter::trial const& it, Context& context) const {
        return fmt::formatter<std::string>::format(spotter::describe(it), context);
    }
};
