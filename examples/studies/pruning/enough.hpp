// SPDX-License-Identifier: Apache-2.0
// A custom rule of this study, which ends the pruning.
#pragma once

#include <spotter/hook.hpp>

#include <utility>

namespace pruning {

namespace sp = spotter;

// Judges the rounds: each is an evaluation with the accuracy and the number of parameters as metrics. Error when the
// accuracy is below `floor`: too much was pruned. Warning when there are at most `parameters`: the goal is reached.
struct pruned_enough {
    using kind = sp::rule_kind;
    static constexpr std::string_view name = "pruned_enough";
    static constexpr std::string_view remedy = "Keep the net of the last round above the floor.";

    double floor = 0;       // of the accuracy, 0 to 1
    double parameters = 0;  // the goal

    struct state {
        sp::measurement accuracy{}, parameters{};  // of this step
    };

    constexpr sp::stats_mask needs(sp::tensor_info const& tensor) const {
        bool const asked = tensor.name == "metric/accuracy" || tensor.name == "metric/parameters";
        return asked ? sp::stats_mask::sum | sp::stats_mask::nonfinite : sp::stats_mask::none;
    }
    constexpr bool declare(state&, sp::tensor_info const&) const { return true; }
    constexpr void observe(state& seen, sp::observation const& it) const {
        if (it.step.mode != sp::mode::eval || it.stats.finite() == 0) { return; }
        (it.tensor.name == "metric/accuracy" ? seen.accuracy : seen.parameters) = {it.stats.sum, true};
    }
    constexpr sp::truth close(state& all, sp::step_id, sp::findings& out) const {
        state const seen = std::exchange(all, {});
        if (!seen.accuracy.known || !seen.parameters.known) { return sp::truth::undecided; }
        bool const too_far = seen.accuracy.value < floor;
        if (!too_far && seen.parameters.value > parameters) { return sp::truth::no; }
        sp::finding found;
        found.tensor = too_far ? "metric/accuracy" : "metric/parameters";
        found.severity = too_far ? sp::severity::error : sp::severity::warning;
        found.reason = too_far ? "the accuracy is below its floor" : "the net is as small as wanted";
        found.measure = too_far ? "accuracy" : "parameters";
        found.measured = too_far ? seen.accuracy.value : seen.parameters.value;
        found.how = too_far ? sp::relation::less : sp::relation::less_equal;
        found.threshold = too_far ? floor : parameters;
        out.push(found);
        return sp::truth::yes;
    }
};

}  // namespace pruning
