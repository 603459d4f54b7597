// SPDX-License-Identifier: Apache-2.0
// Workbench, page: labels and predictions, and the samples with wrong predictions.
#pragma once
#include "page/picture.hpp"
#include "page/roc.hpp"
#include "page/values.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// A sample whose prediction is not its label.
struct mistake {
    std::uint32_t label = 0, said = 0;    // classes, from 0
    double certainty = 0;                 // of the prediction, 0 to 1; 0 without scores
    step_id step{};                       // the step of its recorded values
    std::size_t sample = 0, samples = 0;  // index, and number of samples in that step
    picture image{};                      // without width if there is none
};

struct judged_samples {     // what the page shows of a classifier
    class_counts counts{};  // of the samples at those steps, or from extracted features
    std::vector<mistake>
        mistakes{};      // to be shown: some of each of the most frequent pairs, then the most certain others
    std::string from{};  // tensors and steps: "labels and logits at eval(16)"
    class_hits hits{};   // over the run, at the steps with values
    std::vector<roc_curve> rocs{};  // one class against all others, for the six most frequent; one curve for two
                                    // classes
    std::string drawn_as{};         // how the pictures were made; empty without pictures
};

namespace detail {

// How one sample of an input is drawn; without width if it is not a picture.
struct image_shape {
    std::size_t width = 0, height = 0, channels = 1;
    bool channels_last = false;
};
// `sizes` are those of a batch, its axis first: N × H × W, N × C × H × W, N × H × W × C, or rows whose number of values
// is a square.
[[nodiscard]] image_shape image_of(extents const& shape);

// The values of one sample, scaled from black to white, at most 64 pixels wide and high.
[[nodiscard]] picture draw_sample(std::span<double const> values, image_shape const& shape);

// The class of each sample, and its certainty if there are scores: the softmax of logits, the share of a logarithm, or
// the score itself.
struct classes_said {
    std::vector<std::uint32_t> classes{};
    std::vector<double> certainty{};
    // For each sample and class a share; for a single score that of the second class. Empty without scores.
    std::size_t columns = 0;
    std::vector<double> scores{};
};
[[nodiscard]] classes_said classes_in(tensor_story const& tensor, tensor_ref const& view, bool binary);

// The first tensor of a role with recorded values in a mode.
[[nodiscard]] tensor_story const* kept_of(run_story const& story, role what, mode in);

// The mistakes that are shown: the three most certain of each of the six most frequent pairs, then the most certain
// others, 24 in all.
[[nodiscard]] std::vector<mistake> choose_mistakes(std::vector<mistake> all, class_counts const& counts);

}  // namespace detail

// From recorded values of the last evaluation, or without one of the latest train steps. Without such values from
// features that rules extracted in the loop.
[[nodiscard]] judged_samples judge_samples(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
