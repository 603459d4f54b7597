// SPDX-License-Identifier: Apache-2.0
// Features of one rule on the stage: kept, played back without the values, or damaged.
#pragma once

#include <tests/rule/stage.hpp>

namespace stage {

// What one rule extracts, in the order of the observations. Played back, as a record without values would be, it has no values.
struct feature_log final : value_desk {
    std::vector<std::vector<double>> kept{};
    bool playing = false;

    [[nodiscard]] std::span<double const> const* find(std::uint64_t) noexcept override {
        if (playing) { found_ = kept[next_++]; }
        return playing ? &found_ : nullptr;
    }
    [[nodiscard]] tensor_ref values() noexcept override { return playing ? tensor_ref{} : at_hand; }
    [[nodiscard]] bool live() const noexcept override { return !playing; }
    void keep(std::uint64_t, std::span<double const> feature) noexcept override {
        kept.emplace_back(feature.begin(), feature.end());
    }

private:
    std::span<double const> found_{};
    std::size_t next_ = 0;
};

// Whether the rule answers and finds the same of its features alone as of the values. `play(run, tell)` runs a stream; it calls
// `tell(answer)` after each close.
template <rule Rule, class Play>
bool judges_without_values(Rule const& rule, Play play) {
    feature_log log;
    std::vector<double> told[2];
    for (std::vector<double>& each : told) {
        run<Rule> it{rule};
        it.desk = &log;
        play(it, [&](truth answer) {
            each.push_back(static_cast<double>(answer));
            for (finding const& one : it.found) { each.push_back(one.measured); }
        });
        log.playing = true;
    }
    return !log.kept.empty() && !told[0].empty() && told[0] == told[1];
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

// The answers of three closes for which a damaged record gives this as the feature of a tensor.
template <rule Rule>
std::vector<truth> answers_to(Rule const& rule, tensor_info const& tensor, std::vector<double> const& made,
                              mode in = mode::train) {
    feature_log log;
    log.kept.assign(3, made);
    log.playing = true;
    run<Rule> it{rule};
    it.desk = &log;
    it.declare(tensor);
    std::vector<truth> out;
    for (std::uint64_t i = 0; i < 3; ++i) {
        it.see({in, i}, tensor.name, tensor_ref{});
        out.push_back(it.close({in, i}));
    }
    return out;
}

}  // namespace stage
