// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the confusion matrix, the balance of classes, and pictures of wrong predictions.
#pragma once
#include "page/judged.hpp"
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

using names_of_classes = std::vector<std::string>;  // by class; may have too few, or none

// "38 keep right", or only the number; escaped.
[[nodiscard]] std::string class_text(names_of_classes const& names, std::uint32_t which);

[[nodiscard]] std::string gallery(judged_samples const& it, names_of_classes const& names);

}  // namespace detail

// Its body is empty without labels and predictions: neither their values nor extracted features were recorded.
[[nodiscard]] section classes_section(run_story const& story, judged_samples const& judged);

}  // namespace spotter::inline SPOTTER_ABI::html
