// SPDX-License-Identifier: Apache-2.0
// What the outcomes say: labels, shares with their intervals, and tables as Markdown.
#pragma once

#include "outcome.hpp"

#include <vector>

namespace diagnosis {

// The tables of the generated programs, then those of the real data where there are any, on stdout.
void print_tables(std::vector<outcome> const& all);

}  // namespace diagnosis
