// SPDX-License-Identifier: Apache-2.0
// Recorded trainings as an exam: packs are replayed over records that are labelled, and the answers are counted.
#pragma once

#include <string>

namespace diagnosis {

// Replays the labelled records of a folder, `jobs` at a time, and prints what came of them; with `csv` also a line each
// into that file. Returns the exit code.
[[nodiscard]] int judge_records(std::string const& folder, unsigned jobs, std::string const& csv);

}  // namespace diagnosis
