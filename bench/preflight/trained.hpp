// SPDX-License-Identifier: Apache-2.0
// Trains a net of the bench while a hook watches, until its first alarm. A net of the bench holds one batch; a training
// needs others.
#pragma once

#include "loop.hpp"
#include "passive.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace preflight_bench {

// The data set is the samples that a net of this seed begins with. A batch is as many of them as the net takes, drawn
// with replacement.
template <class Net>
class data_set {
public:
    data_set(arm const& how, std::uint64_t seed)
        : samples_{arm{how.broken, habit::plain}, seed}, random_{seed}, are_whole_{order_is_free(seed)} {}

    // Whether inputs and labels, as they are handed out, are all of a sample. A net that has targets beside them can
    // only see its one batch again.
    [[nodiscard]] bool are_whole() const noexcept { return are_whole_; }

    void draw(Net& net) {
        if (!are_whole_) { return; }
        std::size_t const count = samples_.batch();
        for (std::size_t i = 0; i < net.batch(); ++i) {
            std::size_t const chosen = random_.below(count);
            copy(samples_.inputs(), count, chosen, net.inputs(), i);
            if constexpr (requires { net.labels(); }) { copy(samples_.labels(), count, chosen, net.labels(), i); }
        }
    }

private:
    template <class Value>
    static void copy(std::vector<Value> const& from, std::size_t samples, std::size_t chosen, std::vector<Value>& to,
                     std::size_t place) {
        std::size_t const wide = from.size() / samples;
        std::copy_n(&from[chosen * wide], wide, &to[place * wide]);
    }
    // A healthy net has the same loss if its samples are in another order.
    [[nodiscard]] static bool order_is_free(std::uint64_t seed) {
        Net as_drawn{arm{}, seed}, reversed{arm{}, seed};
        std::size_t const count = as_drawn.batch();
        for (std::size_t i = 0; i < count; ++i) {
            copy(as_drawn.inputs(), count, count - 1 - i, reversed.inputs(), i);
            if constexpr (requires { as_drawn.labels(); }) {
                copy(as_drawn.labels(), count, count - 1 - i, reversed.labels(), i);
            }
        }
        auto const one = double(as_drawn.forward_backward()), other = double(reversed.forward_backward());
        return std::abs(one - other) < 1e-4 * std::abs(one);
    }

    Net samples_;
    prng random_;
    bool are_whole_;
};

// The outputs, as their user names them.
template <class Net>
void show_outputs(passive_watch& watch, Net& net, arm const& how) {
    namespace sp = spotter;
    using real = typename Net::real;
    std::string_view const name = Net::name;
    if (name == "skip-gram, negative samples") { return; }  // it has none: the handle holds the loss
    std::size_t const rows = net.batch(), columns = net.outputs().size() / rows;
    bool classes = name == "policy gradient, baseline";
    if constexpr (requires { net.labels()[0] = 0; }) {
        classes = std::is_integral_v<std::remove_cvref_t<decltype(net.labels()[0])>> && columns > 1;
    }
    if (name == "siamese net, pairs") {
        watch.observe("act/embedding", sp::view_of(net.outputs(), {rows, columns}));
    } else if (classes &&
               how.is(fault::softmax_twice)) {  // its net ends with a softmax; its loss takes them for logits
        std::vector<real> chances = net.outputs();
        for (std::size_t i = 0; i < rows; ++i) {
            real* const row = &chances[i * columns];
            real const top = *std::max_element(row, row + columns);
            real sum = 0;
            for (std::size_t j = 0; j < columns; ++j) { sum += row[j] = std::exp(row[j] - top); }
            for (std::size_t j = 0; j < columns; ++j) { row[j] /= sum; }
        }
        watch.observe("logits", sp::view_of(chances, {rows, columns}), sp::flag::logits);
    } else if (classes && !how.is(fault::softmax_over_batch)) {
        watch.observe("logits", sp::view_of(net.outputs(), {rows, columns}), sp::flag::logits);
    } else {
        watch.observe("pred", sp::view_of(net.outputs(), {rows, columns}));
    }
}

// Everything after the backward pass and before the update, in the order in which it was computed.
template <class Net>
void show_step(passive_watch& watch, loop<Net>& it, bool full_batch, double loss) {
    namespace sp = spotter;
    std::size_t const rows = it.net.batch();
    auto const show = [&](bool gradients) {
        visit_tensors(it, [&](std::string_view name, auto const& tensor, sp::flag flags) {
            if (name.starts_with("grad/") == gradients) { watch.observe(name, sp::as_tensor(tensor), flags); }
        });
    };
    show(false);
    watch.observe("input", sp::view_of(it.net.inputs(), {rows, it.net.inputs().size() / rows}),
                  full_batch ? sp::flag::full_batch : sp::flag::none);
    show_outputs(watch, it.net, it.how);
    if constexpr (requires { it.net.labels(); }) {
        std::size_t const columns = it.net.labels().size() / rows;
        auto const shape = columns > 1 ? sp::extents{rows, columns} : sp::extents{rows};
        watch.observe("labels", sp::view_of(it.net.labels(), shape));
    }
    watch.observe("loss", sp::as_tensor(loss));
    show(true);
}

// Until the first alarm, or for so many steps. `passes` of the outcome counts them.
inline constexpr std::uint32_t most_steps = 300;

template <class Net>
[[nodiscard]] outcome train_net(arm const& how, std::uint64_t seed) {
    loop<Net> it{how, seed};
    data_set<Net> data{how, seed};
    passive_watch watch;
    outcome made;
    bool alarmed = false;
    while (!alarmed && made.passes < most_steps) {
        data.draw(it.net);
        double const loss = it.pass();
        watch.begin(made.passes++);
        show_step(watch, it, !data.are_whole(), loss);
        alarmed = watch.end(made);
        it.step();
    }
    return made;
}

}  // namespace preflight_bench
