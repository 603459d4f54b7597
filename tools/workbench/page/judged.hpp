// SPDX-License-Identifier: Apache-2.0
// Workbench, page: labels against predictions, and the samples that were taken for something else.
#pragma once
#include "page/picture.hpp"
#include "page/roc.hpp"
#include "page/values.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// A sample whose prediction is not its label.
struct mistake {
    std::uint32_t label = 0, said = 0;    // what it is, and what it was taken for: classes from 0
    double certainty = 0;                 // of the prediction, 0 to 1; 0 where there are no scores
    step_id step{};                       // at which its values were kept
    std::size_t sample = 0, samples = 0;  // which of how many of that step
    picture image{};                      // no width where there is none
};

struct judged_samples {     // what the page shows of a classifier
    class_counts counts{};  // of the samples at those steps, or of what rules extracted
    std::vector<mistake>
        mistakes{};      // to be shown: some of each of the most frequent pairs, then the surest of all others
    std::string from{};  // which tensors and steps: "labels and logits at eval(16)"
    class_hits hits{};   // over the run, at the steps with values
    std::vector<roc_curve> rocs{};  // a class against all others, the most frequent six; of two classes one
    std::string drawn_as{};         // how the pictures were made; empty where there are none
};

namespace detail {

// How one sample of an input is drawn; no width where it is no picture.
struct image_shape {
    std::size_t width = 0, height = 0, channels = 1;
    bool channels_last = false;
};
// `sizes` are those of a batch, its axis first: N × H × W, N × C × H × W, N × H × W × C, or rows whose number of values
// is a square.
[[nodiscard]] image_shape image_of(extents const& shape);

// The values of one sample, its smallest black and its largest white, at most 64 pixels wide and high.
[[nodiscard]] picture draw_sample(std::span<double const> values, image_shape const& shape);

// The class of each sample, and how sure it is where there are scores: softmax of logits, the share of its logarithm,
// else the score itself.
struct classes_said {
    std::vector<std::uint32_t> classes{};
    std::vector<double> certainty{};
    // Of each sample one for each class, as shares; of a single score that of the second class. Empty where there are
    // none.
    std::size_t columns = 0;
    std::vector<double> scores{};
};
[[nodiscard]] classes_said classes_in(tensor_story const& tensor, tensor_ref const& view, bool binary);

// The first tensor of a role with values in a mode.
[[nodiscard]] tensor_story const* kept_of(run_story const& story, role what, mode in);

// Of all mistakes those that are shown: the three surest of each of the six most frequent pairs, then the surest
// others, 24 in all.
[[nodiscard]] std::vector<mistake> choose_mistakes(std::vector<mistake> all, class_counts const& counts);

}  // namespace detail

// From recorded values: those of the last evaluation, or where there is none of the latest train steps. Without such
// values what rules extracted of them in the loop.
[[nodiscard]] judged_samples judge_samples(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
