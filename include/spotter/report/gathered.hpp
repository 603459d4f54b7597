// SPDX-License-Identifier: Apache-2.0
// Report (L5): merges equal findings of several steps and workers into one, which has the strongest severity and
// decision among them.
#pragma once

#include <spotter/report/describe.hpp>

#include <array>
#include <bit>
#include <compare>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// What findings share that are merged. Texts belong to the findings.
struct finding_key {
    std::string_view rule{}, reason{}, tensor{}, measure{};
    relation how = relation::none;
    std::uint64_t threshold = 0;  // its bits
    friend auto operator<=>(finding_key const&, finding_key const&) = default;
};
// A threshold may change from step to step, so measure, relation and threshold are left out. They count for rules that
// are called by their kind: several of one name differ in nothing else, and their thresholds are parameters.
[[nodiscard]] finding_key key_of(finding const& it) noexcept;

// All findings with one key. Texts belong to the findings.
struct repeated_finding {
    finding first{}, last{};  // by time
    finding strongest{};      // by severity, then by decision, then by time; its decision is the strongest of all
    std::uint64_t times = 0;  // number of findings
    std::array<std::uint64_t, 3> by_severity{};
    std::uint32_t workers = 1;  // number of workers with it

    void add(finding const& it);

private:
    decision asked_ = decision::proceed;  // of `strongest` itself
};

enum class workers_are : std::uint8_t { together, apart };

// In the order of their first findings.
[[nodiscard]] std::vector<repeated_finding> gather_findings(std::span<finding const> all,
                                                            workers_are how = workers_are::together);

// "11 times in all, last at train(19)", or with different severities "39 times in all (37 errors, 2 notes), first at
// train(1), last at train(40)"; empty for a single finding.
[[nodiscard]] std::string describe_times(repeated_finding const& it, std::string_view in_all = " in all");

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/sentence.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY finding_key key_of(finding const& it) noexcept {
    constexpr std::string_view kinds[] = {"any", "all", "fraction", "pair", "stalled", "rising", "unchanged", "spike"};
    finding_key key{it.rule, it.reason, it.tensor};
    if (std::find(std::begin(kinds), std::end(kinds), it.rule) != std::end(kinds)) {
        key.measure = it.measure, key.how = it.how, key.threshold = std::bit_cast<std::uint64_t>(it.threshold);
    }
    return key;
}

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
    std::map<std::pair<finding_key, std::uint32_t>, std::size_t> places;
    for (finding const& each : all) {
        std::uint32_t const worker = how == workers_are::apart ? each.worker : 0;
        auto const [at, is_new] = places.try_emplace({key_of(each), worker}, found.size());
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

#endif
