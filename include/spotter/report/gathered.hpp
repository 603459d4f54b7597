// SPDX-License-Identifier: Apache-2.0
// Report (L5): the same finding at step after step, in worker after worker, as one, which is as strong as the strongest of them.
#pragma once

#include <spotter/report/describe.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// What a rule said of a tensor for one reason. Texts are those of the findings.
struct repeated_finding {
    finding first{}, last{};  // in time
    finding strongest{};      // by severity, then by decision, then the first; its decision is the strongest of all
    std::uint64_t times = 0;  // in all
    std::array<std::uint64_t, 3> by_severity{};
    std::uint32_t workers = 1;  // that have it

    void add(finding const& it) {
        if (times == 0) { first = strongest = last = it; }
        workers += it.worker != last.worker ? 1 : 0;  // one worker's follow one another
        last = it;
        ++times, ++by_severity[static_cast<std::size_t>(it.severity)];
        decision const most = (std::max)(strongest.decision, it.decision);
        bool const stronger =
            it.severity > strongest.severity || (it.severity == strongest.severity && it.decision > asked_);
        if (stronger || times == 1) { strongest = it, asked_ = it.decision; }
        strongest.decision = most;
    }

private:
    decision asked_ = decision::proceed;  // by `strongest` itself
};

enum class workers_are : std::uint8_t { together, apart };

// In the order of their first.
[[nodiscard]] inline std::vector<repeated_finding> gather_findings(std::span<finding const> all,
                                                                   workers_are how = workers_are::together) {
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

// "11 times in all, last at train(19)", or where they are not all as strong "39 times in all (37 errors, 2 infos), first at train(1), last
// at train(40)"; empty of one.
[[nodiscard]] inline std::string describe_times(repeated_finding const& it, std::string_view in_all = " in all") {
    if (it.times < 2) { return {}; }
    std::string counts;
    std::size_t kinds = 0;
    for (severity const level : {severity::error, severity::warning, severity::info}) {
        std::uint64_t const count = it.by_severity[static_cast<std::size_t>(level)];
        if (count == 0) { continue; }
        ++kinds;
        counts += fmt::format("{}{} {}{}", counts.empty() ? "" : ", ", count, name_of(level), count == 1 ? "" : "s");
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
