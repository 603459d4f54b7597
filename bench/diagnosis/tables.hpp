// SPDX-License-Identifier: Apache-2.0
// What the outcomes say: labels, shares with their intervals, and tables as Markdown.
#pragma once

#include "labels.hpp"

#include <functional>
#include <vector>

namespace diagnosis {

// A row a family, the worst of them, and which rules alarmed in healthy trainings.
void print_families(std::vector<labelled> const& trainings);

// A first alarm of spotter's pack in a broken training, and whether a finding is accepted as its diagnosis.
struct first_line {
    verdict const* said = nullptr;
    std::function<bool(reported_finding const&)> accepts{};

    [[nodiscard]] reported_finding const& told() const { return said->first.front(); }
    [[nodiscard]] bool right() const { return accepts(told()); }
};

// Of each rule how often it is right, what a second cause is worth, and how much hangs on the weights of causes.
void print_causes(std::vector<first_line> const& lines);
void print_jitter(std::vector<first_line> const& lines);

// The tables of the families with generated data, then of those with real data where there are any, on stdout.
void print_tables(std::vector<outcome> const& all);

}  // namespace diagnosis
