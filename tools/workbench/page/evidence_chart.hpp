// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the drawing of a finding: its quantity around the step of the finding.
#pragma once
#include "page/section.hpp"

#include <memory>

namespace spotter::inline SPOTTER_ABI::html::detail {

// A number for each observation, with a name.
struct reading {
    std::string name{};
    measurement (*of)(evidence::moment const&, statistic) = nullptr;
    statistic which = mean;
    bool exact = false;  // it is what the rule measured
};

[[nodiscard]] inline measurement read_statistic(evidence::moment const& it, statistic which) { return which(it.stats); }
[[nodiscard]] inline measurement read_idle(evidence::moment const& it, statistic) { return {it.idle, it.idle >= 0}; }

// The candidates for a finding's drawing, best first.
[[nodiscard]] std::vector<reading> readings_for(finding const& it);

// For a scalar, the value itself.
[[nodiscard]] std::vector<reading> readings_for(evidence const& of);

struct evidence_chart {
    std::unique_ptr<series> own{};  // the drawn series, if it is not part of the story
    chart picture{};                // the observations, with the finding as the only mark; no lines if there were none
    bool whole = false;             // it shows everything that the rule judged: no other drawing is needed
};

// For a finding that compares training and evaluation, both series over the whole run. The chart points into the story.
[[nodiscard]] evidence_chart chart_of(run_story const& story, evidence const& of);

// Whether the first chart contains the other's curves and the step of its finding.
[[nodiscard]] bool holds(evidence_chart const& it, evidence_chart const& other);

// The measured number at each report of the rule; empty where there is only one.
[[nodiscard]] std::string draw_reported(evidence const& of);

}  // namespace spotter::inline SPOTTER_ABI::html::detail
