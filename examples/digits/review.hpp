// SPDX-License-Identifier: Apache-2.0
// Reads a record of this program: how the run went, the confusion matrix of the last evaluation, and drawings of the
// worst mistakes.
#pragma once

#include <spotter/ext/xtensor.hpp>
#include <spotter/report.hpp>
#include <spotter/trial.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace digits {

// A misread test picture: its label, the prediction, and the confidence of the prediction.
struct mistake {
    std::array<float, 64> pixels{};
    std::int32_t label = 0;
    std::size_t seen = 0;
    float certainty = 0;
};

struct verdicts {
    std::array<std::array<int, 10>, 10> confusion{};  // [label][prediction]
    std::vector<mistake> mistakes;                    // most confident first
    int read = 0, right = 0;
};

// Reads the last evaluation.
[[nodiscard]] inline verdicts judge(spotter::trial const& run, spotter::step_id step) {
    verdicts result;
    auto const inputs = run["input"].at(step).to<xt::xtensor<float, 2>>();
    auto const labels = run["labels"].at(step).to<xt::xtensor<std::int32_t, 1>>();
    auto const logits = run["logits"].at(step).to<xt::xtensor<float, 2>>();
    if (!inputs || !labels || !logits) {
        fmt::print("{}: {}\n", step, !inputs ? inputs.error() : !labels ? labels.error() : logits.error());
        return result;
    }
    for (std::size_t i = 0; i < labels->size(); ++i) {
        std::size_t seen = 0;
        for (std::size_t c = 1; c < 10; ++c) { seen = (*logits)(i, c) > (*logits)(i, seen) ? c : seen; }
        auto const label = (*labels)(i);
        ++result.confusion[static_cast<std::size_t>(label)][seen];
        ++result.read;
        if (seen == static_cast<std::size_t>(label)) {
            ++result.right;
            continue;
        }
        mistake wrong{{}, label, seen, 0};
        for (std::size_t c = 0; c < 10; ++c) { wrong.certainty += std::exp((*logits)(i, c) - (*logits)(i, seen)); }
        wrong.certainty = 1.0F / wrong.certainty;
        for (std::size_t k = 0; k < 64; ++k) { wrong.pixels[k] = (*inputs)(i, k); }
        result.mistakes.push_back(wrong);
    }
    std::sort(result.mistakes.begin(), result.mistakes.end(),
              [](mistake const& a, mistake const& b) { return a.certainty > b.certainty; });
    return result;
}

// Draws pictures side by side, eight rows of eight pixels each, two characters a pixel.
inline void draw(std::vector<mistake> const& mistakes) {
    constexpr std::array<char, 6> shades{' ', '.', ':', 'o', '#', '@'};
    for (mistake const& each : mistakes) {
        fmt::print("  {:<18}", fmt::format("{} seen as {} ({:.0f} %)", each.label, each.seen, 100 * each.certainty));
    }
    fmt::print("\n");
    for (std::size_t row = 0; row < 8; ++row) {
        for (mistake const& each : mistakes) {
            auto const [low, high] = std::minmax_element(each.pixels.begin(), each.pixels.end());
            std::string line;
            for (std::size_t col = 0; col < 8; ++col) {
                float const shade = (each.pixels[row * 8 + col] - *low) / (*high - *low);
                line += std::string(2, shades[static_cast<std::size_t>(shade * 5.999F)]);
            }
            fmt::print("  {:<18}", line);
        }
        fmt::print("\n");
    }
}

inline void review(std::string_view path) {
    auto opened = spotter::open_trial(path);
    if (!opened) {
        fmt::print("{}\n", opened.error());
        return;
    }
    spotter::trial const run = std::move(opened).value();
    fmt::print("\n{}", run);

    fmt::print("\nloss every 100 steps:");
    for (auto const& each :
         run["loss"].history(spotter::mean, spotter::every{100} && spotter::during{spotter::mode::train})) {
        fmt::print(" {:.3f}", each.value);
    }
    std::vector<spotter::step_id> const evaluations = run.steps(spotter::mode::eval);
    if (evaluations.empty()) {
        fmt::print("\n");
        return;
    }
    verdicts const result = judge(run, evaluations.back());
    fmt::print("\n\nthe last evaluation, from the recorded logits and labels: {} of {} right\nshown \\ seen",
               result.right, result.read);
    for (std::size_t c = 0; c < 10; ++c) { fmt::print("{:5}", c); }
    for (std::size_t r = 0; r < 10; ++r) {
        fmt::print("\n{:12}", r);
        for (int const count : result.confusion[r]) { fmt::print("{:>5}", count == 0 ? "." : std::to_string(count)); }
    }
    fmt::print("\n\nthe surest mistakes, from the recorded inputs:\n");
    draw({result.mistakes.begin(),
          result.mistakes.begin() + static_cast<std::ptrdiff_t>((std::min)(result.mistakes.size(), std::size_t{4}))});
}

}  // namespace digits
