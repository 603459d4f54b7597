// SPDX-License-Identifier: Apache-2.0
// Workbench, page: what is drawn of a finding: the quantity that it is about, around the step at which it was found.
#pragma once
#include "page/section.hpp"

#include <memory>

namespace spotter::inline SPOTTER_ABI::html::detail {

// A number of each moment, by a name.
struct reading {
    std::string name{};
    measurement (*of)(evidence::moment const&, statistic) = nullptr;
    statistic which = mean;
    bool exact = false;  // it is what the rule measured
};

[[nodiscard]] inline measurement read_statistic(evidence::moment const& it, statistic which) { return which(it.stats); }
[[nodiscard]] inline measurement read_idle(evidence::moment const& it, statistic) { return {it.idle, it.idle >= 0}; }

// What may be drawn of a finding, the best first.
[[nodiscard]] std::vector<reading> readings_for(finding const& it);

// Of a scalar the value itself is what there is to see.
[[nodiscard]] std::vector<reading> readings_for(evidence const& of);

struct evidence_chart {
    std::unique_ptr<series> own{};  // that the picture draws, where the story has no such series
    chart picture{};                // what was observed, the finding its only mark; without lines where nothing was
    bool whole = false;             // it shows what the rule judged: nothing else is to be drawn
};

// Of a finding that compares training and evaluation both series over the whole run. The picture points into the story.
[[nodiscard]] evidence_chart chart_of(run_story const& story, evidence const& of);

// The chart of one finding shows what the chart of the other would, and the step of that one.
[[nodiscard]] bool holds(evidence_chart const& it, evidence_chart const& other);

// What a rule measured, each time that it reported it; empty where it did so once.
[[nodiscard]] std::string draw_told(evidence const& of);

}  // namespace spotter::inline SPOTTER_ABI::html::detail
