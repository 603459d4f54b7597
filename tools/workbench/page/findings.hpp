// SPDX-License-Identifier: Apache-2.0
// Workbench, page: what rules found, each with a curve of what it is about, and which rules could not run.
#pragma once
#include "page/head.hpp"

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

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

[[nodiscard]] std::string coverage_of(std::vector<recorded_coverage> const& all);

}  // namespace detail

// Of one run; where nothing was found it says what that is worth.
[[nodiscard]] section findings_section(run_story const& story);

// Of more runs than stand side by side: for each its verdict and the strongest findings, without their curves.
[[nodiscard]] section findings_of_many(std::vector<run_story> const& runs);

}  // namespace spotter::inline SPOTTER_ABI::html
