// SPDX-License-Identifier: Apache-2.0
// Workbench, page: confusion matrix, balance of the classes, and pictures of what was taken for something
// else.
#pragma once
#include "page/judged.hpp"
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

using names_of_classes = std::vector<std::string>;  // by class; may be too few, or none

// "38 keep right", or the number alone; escaped.
[[nodiscard]] std::string class_text(names_of_classes const& names, std::uint32_t which);

[[nodiscard]] std::string gallery(judged_samples const& it, names_of_classes const& names);

}  // namespace detail

// Its body is empty where nothing was judged: no labels with predictions, neither values of them nor what rules
// extracted.
[[nodiscard]] section classes_section(run_story const& story, judged_samples const& judged);

}  // namespace spotter::inline SPOTTER_ABI::html
