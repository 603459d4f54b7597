// SPDX-License-Identifier: Apache-2.0
// Features of one rule on the stage: kept, played back without the values, or damaged.
#pragma once

#include <tests/rule/stage.hpp>

namespace stage {

// Whether the rule answers and finds the same of its features alone as of the values. `play(run, tell)` runs a stream;
// it calls `tell(answer)` after each close.
template <rule Rule, class Play>
bool judges_without_values(Rule const& rule, Play play) {
    feature_log log;
    std::vector<double> reported[2];
    for (std::vector<double>& each : reported) {
        run<Rule> it{rule};
        it.log = &log;
        play(it, [&](truth answer) {
            each.push_back(static_cast<double>(answer));
            for (finding const& one : it.found) { each.push_back(one.measured); }
        });
        log.playing = true;
    }
    return !log.empty() && !reported[0].empty() && reported[0] == reported[1];
}
// The same of one tensor, a list of values a step.
template <rule Rule>
bool judges_without_values(Rule const& rule, std::string_view name, std::vector<std::vector<float>> const& steps) {
    return judges_without_values(rule, [&](auto& it, auto tell) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            it.see(train(i), name, steps[i], {std::uint64_t{1}, steps[i].size()});
            tell(it.close(train(i)));
        }
    });
}

// The answers of three closes for which a damaged record gives this as the feature of a tensor, whatever its key.
template <rule Rule>
std::vector<truth> answers_to(Rule const& rule, tensor_info const& tensor, std::vector<double> const& made,
                              mode in = mode::train) {
    std::vector<double> const zeros(tensor.shape.elements());
    tensor_ref values = view_of(zeros.data(), tensor.shape);
    values.type = tensor.type;
    run<Rule> it{rule};
    it.declare(tensor);
    std::vector<truth> out;
    for (std::uint64_t i = 0; i < 3; ++i) {
        feature_log log;
        run<Rule> asked{it};  // by which key
        asked.log = it.log = &log;
        asked.see({in, i}, tensor.name, values);
        log.playing = true;
        for (auto& each : log.kept[0]) { each.numbers = made; }
        it.see({in, i}, tensor.name, tensor_ref{});
        out.push_back(it.close({in, i}));
    }
    return out;
}

}  // namespace stage
