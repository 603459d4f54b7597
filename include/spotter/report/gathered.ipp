// SPDX-License-Identifier: Apache-2.0
// The bodies of gathered.hpp.
#pragma once

#include <spotter/core/plural.hpp>
#include <spotter/report/gathered.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void repeated_finding::add(finding const& it) {
    if (times == 0) { first = strongest = last = it; }
    workers += it.worker != last.worker ? 1 : 0;  // findings of one worker are adjacent
    last = it;
    ++times, ++by_severity[static_cast<std::size_t>(it.severity)];
    decision const most = (std::max)(strongest.decision, it.decision);
    bool const stronger =
        it.severity > strongest.severity || (it.severity == strongest.severity && it.decision > asked_);
    if (stronger || times == 1) { strongest = it, asked_ = it.decision; }
    strongest.decision = most;
}

SPOTTER_BODY std::vector<repeated_finding> gather_findings(std::span<finding const> all, workers_are how) {
    std::vector<repeated_finding> found;
    std::map<std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>, std::size_t> places;
    for (finding const& each : all) {
        std::uint32_t const worker = how == workers_are::apart ? each.worker : 0;
        auto const [at, is_new] = places.try_emplace({each.rule, each.reason, each.tensor, worker}, found.size());
        if (is_new) { found.emplace_back(); }
        found[at->second].add(each);
    }
    return found;
}

SPOTTER_BODY std::string describe_times(repeated_finding const& it, std::string_view in_all) {
    if (it.times < 2) { return {}; }
    std::string counts;
    std::size_t kinds = 0;
    for (severity const level : {severity::error, severity::warning, severity::info}) {
        std::uint64_t const count = it.by_severity[static_cast<std::size_t>(level)];
        if (count == 0) { continue; }
        ++kinds;
        counts += fmt::format("{}{}", counts.empty() ? "" : ", ", plural(count, name_of(level)).view());
    }
    std::string text = fmt::format("{} times{}", it.times, in_all);
    if (kinds > 1) { text += fmt::format(" ({})", counts); }
    bool const later = it.first.step != it.strongest.step || it.first.worker != it.strongest.worker;
    if (later) { text += fmt::format(", first at {}", spotter::describe(it.first.step)); }
    text += fmt::format(", last at {}", spotter::describe(it.last.step));
    if (it.workers > 1) { text += fmt::format(", in {} workers", it.workers); }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
