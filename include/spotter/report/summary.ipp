// SPDX-License-Identifier: Apache-2.0
// The bodies of summary.hpp.
#pragma once

#include <spotter/core/plain.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/hook/health.hpp>
#include <spotter/report/bytes.hpp>
#include <spotter/report/gathered.hpp>
#include <spotter/report/summary.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

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
                             detail::plural(run.names(filter{.collection = each.name}).size(), "name").view());
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
