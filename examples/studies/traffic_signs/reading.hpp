// SPDX-License-Identifier: Apache-2.0
// Reads the record of a training: which classes are confused, which are rare, and when the training could have ended.
#pragma once

#include "training.hpp"

#include <spotter/replay.hpp>
#include <spotter/trial.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace traffic {

// Pairs of signs that are mirror images: bends, turn right and left, straight or right and left, keep right and left.
inline constexpr std::array<std::pair<std::int64_t, std::int64_t>, 4> mirror_pairs{
    {{19, 20}, {33, 34}, {36, 37}, {38, 39}}};

// The confusion matrix of the last evaluation, [label, prediction], 64-bit integers [43, 43].
[[nodiscard]] inline torch::Tensor confusion_of(sp::trial const& run) {
    sp::step_id const last = run.steps(sp::mode::eval).back();
    torch::Tensor const label = run["label"].at(last).to<torch::Tensor>().value();
    torch::Tensor const said = run["score"].at(last).to<torch::Tensor>().value().argmax(1);
    std::int64_t const classes = studies::traffic_signs::class_count;
    return torch::bincount(label * classes + said, {}, classes * classes).reshape({classes, classes});
}

// How often each class was shown in training, from the recorded labels: 64-bit integers [43].
[[nodiscard]] inline torch::Tensor classes_shown(sp::trial const& run) {
    torch::Tensor count = torch::zeros({studies::traffic_signs::class_count}, torch::kLong);
    for (sp::step_id const step : run.steps(sp::mode::train)) {
        count += torch::bincount(run["label"].at(step).to<torch::Tensor>().value(), {}, count.size(0));
    }
    return count;
}

// The share of pictures of these classes (64-bit integers [n]) that is read correctly.
[[nodiscard]] inline double share_right(torch::Tensor const& confusion, torch::Tensor const& classes) {
    torch::Tensor const rows = confusion.index_select(0, classes);
    return confusion.diag().index_select(0, classes).sum().item<double>() / rows.sum().item<double>();
}

// For signs with a mirror image: the share that is mistaken for the mirror image.
struct mirror_mistakes {
    double turn_right = 0, turn_left = 0, keep_right = 0, keep_left = 0;

    mirror_mistakes() = default;
    explicit mirror_mistakes(torch::Tensor const& confusion) {
        auto const taken = [&](std::int64_t sign, std::int64_t other) {
            double const mistaken = confusion[sign][other].item<double>(), shown = confusion[sign].sum().item<double>();
            wrong_ += mistaken, shown_ += shown;
            return mistaken / shown;
        };
        turn_right = taken(33, 34), turn_left = taken(34, 33), keep_right = taken(38, 39), keep_left = taken(39, 38);
    }
    [[nodiscard]] double share() const { return wrong_ / shown_; }

private:
    double wrong_ = 0, shown_ = 0;
};

// When a rule would have ended a training, computed from its record.
struct ending {
    std::uint64_t steps = 0;  // trained until then; all of them if the rule does not fire
    double accuracy = 0;      // of the evaluation at that step
    bool fired = false;
};
template <class Rule>
[[nodiscard]] ending end_by(sp::trial const& run, Rule const& rule, outcome const& whole) {
    ending result{whole.steps, whole.accuracy, false};
    for (sp::finding const& each : sp::replay(run, rule).findings) {
        if (each.severity < sp::severity::warning) { continue; }
        bool const evaluated = each.step.mode == sp::mode::eval;
        result.steps = evaluated ? (each.step.index + 1) * recipe::between_evaluations : each.step.index;
        std::uint64_t const done = result.steps / recipe::between_evaluations;
        result.accuracy = done == 0 ? 0 : run["metric/accuracy"].stat(sp::eval(done - 1), sp::mean).value();
        result.fired = true;
        break;
    }
    return result;
}

// The findings of the hook during training, one a line; then those of the rule on mistakes for the last evaluation.
[[nodiscard]] inline std::string lines_of(sp::trial const& run) {
    std::string text;
    for (sp::finding const& each : run.findings()) { text += fmt::format("{}\n", each); }
    sp::step_id const last = run.steps(sp::mode::eval).back();
    for (sp::finding const& each :
         sp::replay(run, mistakes, sp::from{last.index} && sp::during{sp::mode::eval}).findings) {
        text += fmt::format("{}\n", each);
    }
    return text;
}

}  // namespace traffic
