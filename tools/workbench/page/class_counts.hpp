// SPDX-License-Identifier: Apache-2.0
// Workbench, page: how often each class was given as a label, and what it was taken for.
#pragma once

#include "page/series.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

using class_balance = std::map<std::uint32_t, std::uint64_t>;  // samples by class

struct class_counts {                                                          // a confusion matrix, as sparse as it is
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> pairs{};  // samples by label and prediction
    class_balance labels{}, predictions{};                                     // sums of the pairs, by either side
    std::uint64_t total = 0, right = 0;  // samples, and those whose prediction is the label

    void add(std::uint32_t label, std::uint32_t said);                              // one sample
    [[nodiscard]] std::uint64_t of(std::uint32_t label, std::uint32_t said) const;  // samples of that pair
    // 0 where nothing is said to be of the class, or nothing is.
    [[nodiscard]] double precision(std::uint32_t which) const;
    [[nodiscard]] double recall(std::uint32_t which) const;  // 0 where no label is of the class
    [[nodiscard]] double f1(std::uint32_t which) const;      // the harmonic mean of both; 0 where both are 0
    // A label and what it was taken for, the most frequent first, of equals the smaller label.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> confused() const;
};

// Of the samples of each class, step by step, the share that was right; of 64 classes at most.
class class_hits {
public:
    // One sample, at a step of the page's axis; a class beyond the 64th counts in `all` only.
    void add(std::uint64_t at, std::uint32_t label, bool right);
    [[nodiscard]] series const& all() const noexcept { return all_; }  // of the samples of all classes
    // By class; those met first.
    [[nodiscard]] std::map<std::uint32_t, series> const& of_class() const noexcept { return each_; }

private:
    series all_{64};
    std::map<std::uint32_t, series> each_{};
};

}  // namespace spotter::inline SPOTTER_ABI::html
