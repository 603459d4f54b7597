// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of cards.hpp.
#include "page/cards.hpp"

#include "page/run_reader.hpp"

#include <algorithm>
#include <map>

namespace spotter::inline SPOTTER_ABI::html::detail {

[[nodiscard]] static bool is_alarm(evidence const& it) noexcept { return it.what.strongest.severity > severity::note; }

// Whether the note names this cause, in the form that step_findings writes.
[[nodiscard]] static bool is_because_of(finding const& it, finding const& cause) {
    std::string_view rest = it.detail.view();
    evidence_text line{"because of "};  // cut where that of the note is
    line << cause.rule;
    if (cause.tensor != it.tensor) { line << " in \"" << cause.tensor << '"'; }
    std::string_view const words = line.view();
    if (!rest.starts_with(words)) { return false; }
    rest.remove_prefix(words.size());
    return rest.empty() || rest.starts_with("; ") || rest.starts_with(" at ");
}

// The alarm that a note says it is because of; null where there is none.
[[nodiscard]] static evidence const* stated_cause(run_story const& story, evidence const& of) {
    finding const& it = of.what.strongest;
    if (is_alarm(of) || !it.detail.view().starts_with("because of ")) { return nullptr; }
    evidence const* cause = nullptr;
    for (evidence const& each : story.findings) {
        if (is_alarm(each) && is_because_of(it, each.what.strongest)) { cause = &each; }
    }
    return cause;
}

// For each finding of the story, the one on whose card it is; null if it has its own.
[[nodiscard]] static std::vector<evidence const*> causes_of(run_story const& story) {
    std::map<spotter::detail::finding_key, std::size_t> places;
    for (std::size_t i = 0; i < story.findings.size(); ++i) {
        places[spotter::detail::key_of(story.findings[i].what.strongest)] = i;
    }
    auto const place_of = [&](finding const& it) { return places.at(spotter::detail::key_of(it)); };
    std::map<std::pair<std::uint32_t, step_id>, evidence const*> first;  // the first alarm at a close
    for (finding const& each : story.found()) {
        evidence const& its = story.findings[place_of(each)];
        finding const& strongest = its.what.strongest;
        bool const here = each.step == strongest.step && each.worker == strongest.worker;
        if (here && is_alarm(its)) { first.try_emplace({each.worker, each.step}, &its); }
    }
    std::vector<evidence const*> causes(story.findings.size());
    for (finding const& each : story.found()) {
        std::size_t const place = place_of(each);
        auto const cause = first.find({each.worker, each.step});
        if (causes[place] == nullptr && !is_alarm(story.findings[place]) && cause != first.end()) {
            causes[place] = cause->second;
        }
    }
    for (std::size_t i = 0; i < causes.size(); ++i) {
        evidence const* const stated = stated_cause(story, story.findings[i]);
        if (stated != nullptr) { causes[i] = stated; }
    }
    return causes;
}

[[nodiscard]] static bool is_stronger(card const& a, card const& b) noexcept {
    return a.head.what->what.strongest.severity > b.head.what->what.strongest.severity;
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

std::vector<card> cards_of(run_story const& story) {
    std::vector<evidence const*> const causes = detail::causes_of(story);
    std::vector<std::size_t> order(story.findings.size());  // the findings by time
    for (std::size_t i = 0; i < order.size(); ++i) { order[story.findings[i].order] = i; }
    std::vector<card> all;
    std::map<evidence const*, std::size_t> places;             // indices of alarms in `all`
    std::map<std::string, std::vector<std::size_t>> of_title;  // cards with a chart
    for (std::size_t const i : order) {
        evidence const& it = story.findings[i];
        if (causes[i] != nullptr) { continue; }
        card one{{&it, detail::chart_of(story, it)}, {}};
        std::vector<std::size_t>& alike = of_title[one.head.drawn.picture.title];
        auto const same = std::find_if(alike.begin(), alike.end(), [&](std::size_t place) {
            card const& other = all[place];
            bool const leads = detail::is_stronger(one, other);
            return detail::holds(leads ? one.head.drawn : other.head.drawn, leads ? other.head.drawn : one.head.drawn);
        });
        if (same == alike.end()) {
            alike.push_back(all.size());
            places[&it] = all.size();
            all.push_back(std::move(one));
            continue;
        }
        card& other = all[*same];
        places[&it] = *same;
        if (detail::is_stronger(one, other)) { std::swap(one.head, other.head); }
        other.behind.push_back(std::move(one.head));
    }
    for (std::size_t const i : order) {
        evidence const& it = story.findings[i];
        if (causes[i] == nullptr) { continue; }
        all[places.at(causes[i])].behind.push_back({&it, detail::chart_of(story, it)});
    }
    for (card& each : all) {
        std::sort(each.behind.begin(), each.behind.end(),
                  [](card::part const& a, card::part const& b) { return a.what->order < b.what->order; });
    }
    return all;
}

std::vector<finding_card> finding_cards(trial const& run) {
    run_story story;
    story.run = &run;
    story.findings = gather_evidence(run, story.found());
    std::vector<finding_card> all;
    for (card const& each : cards_of(story)) {
        finding_card& one = all.emplace_back(finding_card{each.head.what->what, {}});
        for (card::part const& its : each.behind) { one.behind.push_back(its.what->what); }
    }
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI::html
