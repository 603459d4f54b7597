// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the top of a page: the state of the run, its times, the verdict, and remarks on the record.
#pragma once
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// One sentence.
[[nodiscard]] std::string verdict(run_story const& story);

// "good", "warned", "bad" (an error, or it did not end well) or "open" (nothing was judged yet): the colour of the
// verdict.
[[nodiscard]] std::string_view mood(run_story const& story);

namespace detail {

// Remarks on a run that is unfinished, died, failed, damaged or empty.
[[nodiscard]] std::string notes_of(run_story const& story);

[[nodiscard]] std::string steps_text(run_story const& story);

}  // namespace detail

// The facts of one run as a list, below its name and verdict.
[[nodiscard]] std::string head_of(run_story const& story);

}  // namespace spotter::inline SPOTTER_ABI::html
