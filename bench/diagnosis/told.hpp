// SPDX-License-Identifier: Apache-2.0
// What the table of causes names where the signs of a run are known: the finding of a cause without its run.
#pragma once

#include "outcome.hpp"

#include <spotter/diagnosis/cause_table.hpp>

namespace diagnosis {

// Rule and reason of the finding that a cause has where these signs are seen. The rule is that of the first sign of its
// row; where a sign may have several rules, it is the usual one. Without a cause it is the loss.
[[nodiscard]] reported_finding told_as(spotter::detail::cause what, spotter::detail::signs const& seen);

// The second cause that the first line offers ("or B"); without a rule where it offers none.
[[nodiscard]] reported_finding second_of(verdict const& said);

}  // namespace diagnosis
