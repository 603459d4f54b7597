// SPDX-License-Identifier: Apache-2.0
// What came of trainings that follow cures, beside the same trainings left alone.
#pragma once

#include "outcome.hpp"

#include <vector>

namespace diagnosis {

// Outcomes of the same assignments: left alone, and under each of the cures (cure_names), in that order.
void print_cures(std::vector<std::vector<outcome>> const& by_cure);

}  // namespace diagnosis
