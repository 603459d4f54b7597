// SPDX-License-Identifier: Apache-2.0
// What the outcomes say: labels, shares with their intervals, and tables as Markdown.
#pragma once

#include "labels.hpp"

#include <vector>

namespace diagnosis {

// A row a family, the worst of them, and which rules alarmed in healthy trainings.
void print_families(std::vector<labelled> const& trainings);

// The tables of the families with generated data, then of those with real data where there are any, on stdout.
void print_tables(std::vector<outcome> const& all);

}  // namespace diagnosis
