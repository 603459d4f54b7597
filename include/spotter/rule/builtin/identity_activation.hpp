// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): an activation function that returns its input. docs/rules.md#identity_activation
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/hashed_pairs.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Compares an activation `act/X` (or `relu/X`, `X_output`) with its preactivation `pre/X` (or `X_input`). Warning when
// both have the same bits in `patience` closes in a row although the activation should have changed the values. Its
// kind must be known. A ReLU changes a negative value; tanh one of at least 0.25 in size (smaller ones may round to
// themselves: up to 0.090 in bf16, 0.036 in f16, 3.5e-4 in f32); any other kind except sigmoid one below -1. Train
// steps only.
struct identity_activation {
    using kind = rule_kind;
    static constexpr std::string_view name = "identity_activation";
    static constexpr std::string_view remedy = "Check the output layer, its activation and what the loss expects.";
    static constexpr mode judged_in = mode::train;

    selector select = role::activation;
    std::uint64_t patience = 3;  // closes

    struct layer {                                              // of one activation, with its preactivation
        activation_kind activation = activation_kind::unknown;  // as declared
        double least = 0, greatest = 0;                         // of a preactivation, at its last observation
        std::uint64_t equal = 0;                                // of an activation: closes with equal bits
    };
    struct state {
        per_tensor<layer> all;
        hashed_pairs pairs;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return tensor.role != role::preactivation && select(tensor) ? hashed_pairs::needs : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return tensor.role == role::preactivation ? hashed_pairs::needs | stats_mask::range : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (seen.all.declare(tensor) == nullptr) { return false; }
        seen.all[tensor.id].activation = tensor.activation;
        return seen.pairs.declare(
            tensor, tensor.role != role::preactivation,
            [](std::string_view act, std::string_view pre) { return layer_of(act) == layer_of(pre); });
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train || seen.all.find(it.tensor.id) == nullptr) { return; }
        seen.pairs.observe(it);
        if (it.tensor.role != role::preactivation) { return; }
        seen.all[it.tensor.id].least = minimum(it.stats).value;
        seen.all[it.tensor.id].greatest = maximum(it.stats).value;
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        violation found;
        bool judged = false;
        seen.pairs.close(
            [&](tensor_id act, std::string_view tensor, std::uint64_t after, tensor_id pre, std::uint64_t before) {
                layer& mine = seen.all[act];
                // It may be declared with the preactivation instead.
                bool const is_declared = mine.activation != activation_kind::unknown;
                if (!would_change(is_declared ? mine.activation : seen.all[pre].activation, seen.all[pre])) { return; }
                judged = true;
                mine.equal = after == before ? mine.equal + 1 : 0;
                if (mine.equal < patience || after != before) { return; }
                found.blame(tensor, static_cast<double>(mine.equal));
            });
        if (found.count == 0) { return judged ? truth::no : truth::undecided; }
        out.push(found.as_finding("activation returns its input", "steps with equal bits", relation::greater_equal,
                                  static_cast<double>(patience)));
        return truth::yes;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "no activation of a known kind was seen with its preactivation, or none that it would have changed";
    }

private:
    // The `X` of `act/X`, `pre/X` and so on.
    [[nodiscard]] static constexpr std::string_view layer_of(std::string_view tensor) noexcept {
        for (std::string_view prefix : {"act/", "relu/", "pre/"}) {
            if (tensor.starts_with(prefix)) { return tensor.substr(prefix.size()); }
        }
        for (std::string_view suffix : {"_output", "_input"}) {
            if (tensor.ends_with(suffix)) { return tensor.substr(0, tensor.size() - suffix.size()); }
        }
        return tensor;
    }
    [[nodiscard]] static constexpr bool would_change(activation_kind activation, layer const& input) noexcept {
        switch (activation) {
            case activation_kind::relu:
                return input.least < 0;
            case activation_kind::tanh:
                return input.least <= -0.25 || input.greatest >= 0.25;
            case activation_kind::sigmoid:
                return true;
            case activation_kind::other:
                return input.least < -1;
            case activation_kind::unknown:
                break;
        }
        return false;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
