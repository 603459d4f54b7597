// SPDX-License-Identifier: Apache-2.0
// A program of two layers as a hook sees it, made up: a healthy run that each test changes in one thing.
#pragma once

#include <spotter/hook.hpp>
#include <spotter/packs.hpp>

#include <tests/true_as_printed.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace spotter_test {

using namespace spotter;

// What is shown at a step. A test may change any of it before it is.
struct shown_step {
    double loss = 0;
    std::vector<float> input, label;                       // {16, 4}, {16}
    std::vector<float> pre, act;                           // {16, 8}: of the first layer
    std::array<std::vector<float>, 2> weights, gradients;  // {8, 4} and {3, 8}
};

struct habits {
    double rate = 1;  // times an update of 0.2 % of a weight
    double input_size = 1, weight_size = 1;
    std::uint64_t layers = 2;
    bool shows_loss = true;
    bool shows_first_gradient = true;  // of the first layer
};

class shown_program {
public:
    explicit shown_program(habits const& like) : like_{like} {
        fill(now_.weights[0], 32, 0.7 * like.weight_size), fill(now_.weights[1], 24, 0.5 * like.weight_size);
    }
    // What the program shows at step `i`; its weights as the updates before have left them.
    shown_step& at(std::uint64_t i) {
        for (std::size_t k = 0; i > 0 && k < 2; ++k) { move(now_.weights[k], now_.gradients[k]); }
        now_.loss = 2.3 * std::exp(-0.01 * static_cast<double>(i)) + 0.05 * uniform();
        fill(now_.input, 64, like_.input_size);
        fill(now_.pre, 128, 1);
        now_.act = now_.pre;
        for (float& each : now_.act) { each = each > 0 ? each : 0; }
        now_.label.clear();
        for (std::uint64_t k = 0; k < 16; ++k) { now_.label.push_back(static_cast<float>((i + k * 7) % 3)); }
        fill(now_.gradients[0], 32, 0.01), fill(now_.gradients[1], 24, 0.01);
        return now_;
    }

private:
    double uniform() { return static_cast<double>(random_()) / 2147483648.0 - 1; }
    void fill(std::vector<float>& into, std::size_t count, double size) {
        into.resize(count);
        for (float& each : into) { each = static_cast<float>(1.7 * size * uniform()); }
    }
    static double size_of(std::vector<float> const& all) {
        double sum = 0;
        for (float const each : all) { sum += double{each} * each; }
        return std::sqrt(sum);
    }
    // Down the gradient, by so much of the weight's size; of nothing in small steps.
    void move(std::vector<float>& weight, std::vector<float> const& gradient) const {
        double const length = size_of(gradient), size = size_of(weight);
        double const step = length > 0 ? like_.rate * 0.002 * (size > 0 ? size : 1) / length : 0;
        for (std::size_t k = 0; k < weight.size(); ++k) {
            weight[k] = static_cast<float>(weight[k] - step * gradient[k]);
        }
    }

    habits like_;
    std::mt19937 random_{1};
    shown_step now_;
};

struct reported_finding {
    std::uint64_t at = 0;
    std::string rule, reason, tensor, detail;
    severity level = severity::info;
    spotter::decision decision = spotter::decision::proceed;
};

// Shows `steps` steps of the program; `change(shown, step)` before each is shown, `use(step, alarm)` behind it.
template <class Hook, class Change, class Use>
void show_run(Hook& watch, std::uint64_t steps, habits const& like, Change& change, Use&& use) {
    shown_program program{like};
    for (std::uint64_t i = 0; i < steps; ++i) {
        shown_step& it = program.at(i);
        change(it, i);
        watch.begin(train(i));
        watch.observe("fc1/w", view_of(it.weights[0].data(), {8, 4}));
        if (like.layers > 1) { watch.observe("fc2/w", view_of(it.weights[1].data(), {3, 8})); }
        watch.observe("input", view_of(it.input.data(), {16, 4}));
        watch.observe("labels", view_of(it.label.data(), {16}));
        watch.observe("pre/fc1", view_of(it.pre.data(), {16, 8}));
        watch.observe("act/fc1", view_of(it.act.data(), {16, 8}));
        if (like.shows_loss) { watch.observe("loss", it.loss); }
        if (like.shows_first_gradient) { watch.observe("grad/fc1/w", view_of(it.gradients[0].data(), {8, 4})); }
        if (like.layers > 1) { watch.observe("grad/fc2/w", view_of(it.gradients[1].data(), {3, 8})); }
        step_alarm const found = watch.end();
        check_as_printed(found);
        use(i, found);
    }
}
// The findings of a pack in such a run.
template <class Pack, class Change>
std::vector<reported_finding> story_of(Pack const& pack, std::uint64_t steps, habits const& like, Change change) {
    hook watch{plan{}, pack};
    std::vector<reported_finding> all;
    show_run(watch, steps, like, change, [&](std::uint64_t at, step_alarm const& found) {
        for (finding const& each : found) {
            all.push_back({at, std::string{each.rule}, std::string{each.reason}, std::string{each.tensor},
                           std::string{each.detail.view()}, each.severity, each.decision});
        }
    });
    return all;
}

// The alarms of a story in turn: "20 learning_rate_zero".
inline std::vector<std::string> alarms_of(std::vector<reported_finding> const& all) {
    std::vector<std::string> lines;
    for (reported_finding const& each : all) {
        if (each.level >= severity::warning) { lines.push_back(std::to_string(each.at) + ' ' + each.rule); }
    }
    return lines;
}
// The first alarm; of a step without any nothing.
inline reported_finding first_alarm(std::vector<reported_finding> const& all) {
    for (reported_finding const& each : all) {
        if (each.level >= severity::warning) { return each; }
    }
    return {};
}

inline constexpr auto as_it_is = [](shown_step&, std::uint64_t) {};
inline constexpr auto flat = [](shown_step& it, std::uint64_t i) {
    it.loss = 2.3 + 0.02 * std::sin(static_cast<double>(i));
};
inline constexpr auto worse = [](shown_step& it, std::uint64_t i) {
    it.loss = 2.3 * std::exp(0.05 * static_cast<double>(i));
};

}  // namespace spotter_test
