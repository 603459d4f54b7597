// SPDX-License-Identifier: Apache-2.0
// Workbench, page: how often each class was the label, and what it was predicted as.
#pragma once

#include "page/series.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

using class_balance = std::map<std::uint32_t, std::uint64_t>;  // samples by class

struct class_counts {                                                          // a sparse confusion matrix
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> pairs{};  // samples by label and prediction
    class_balance labels{}, predictions{};                                     // sums of the pairs, for either side
    std::uint64_t total = 0, right = 0;  // samples, and those whose prediction is the label

    void add(std::uint32_t label, std::uint32_t said);                              // one sample
    [[nodiscard]] std::uint64_t of(std::uint32_t label, std::uint32_t said) const;  // samples of that pair
    // 0 where the class is never predicted, or has no right prediction.
    [[nodiscard]] double precision(std::uint32_t which) const;
    [[nodiscard]] double recall(std::uint32_t which) const;  // 0 where no label has the class
    [[nodiscard]] double f1(std::uint32_t which) const;      // the harmonic mean of both; 0 where both are 0
    // Pairs of a label and a wrong prediction, the most frequent first; among equals the smaller label first.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> confused() const;
};

// The share of right predictions for each class over the steps; for at most 64 classes.
class class_hits {
public:
    // Adds one sample, at a step of the page's axis; a class beyond the 64th only counts in `all`.
    void add(std::uint64_t at, std::uint32_t label, bool right);
    [[nodiscard]] series const& all() const noexcept { return all_; }  // for the samples of all classes
    // By class; the first 64 that occurred.
    [[nodiscard]] std::map<std::uint32_t, series> const& of_class() const noexcept { return each_; }

private:
    series all_{64};
    std::map<std::uint32_t, series> each_{};
};

}  // namespace spotter::inline SPOTTER_ABI::html
