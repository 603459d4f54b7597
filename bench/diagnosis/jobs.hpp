// SPDX-License-Identifier: Apache-2.0
// Trainings side by side: each job is a process of its own, because libraries keep random states and thread pools a
// process.
#pragma once

#include "outcome.hpp"

#include <vector>

namespace diagnosis {

// Trains them all, `jobs` at a time; the outcomes by family, fault, variant and seed. A job that dies loses the
// training that it was at, and says so on stderr.
[[nodiscard]] std::vector<outcome> train_all(std::vector<assignment> const& list, unsigned jobs);

}  // namespace diagnosis
