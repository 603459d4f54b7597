// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): batches that are mostly padding or unknown words. docs/rules.md#nlp_sequence_ratio
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/any_values.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// Inputs of an integer type: tokens.
[[nodiscard]] constexpr bool integer_inputs(tensor_info const& tensor) noexcept {
    return tensor.role == role::input && tensor.type != dtype::none && !is_floating(tensor.type);
}

}  // namespace select

// Warning when, over the last `window` steps with the tensor, one of the first `n` entries of `tokens` has more than
// its limit of all tokens. Not judged before there are `window` steps. Train steps only.
struct nlp_sequence_ratio {
    using kind = rule_kind;
    static constexpr std::string_view name = "nlp_sequence_ratio";
    static constexpr std::string_view remedy =
        "Bucket sequences by length if the token is padding; enlarge the vocabulary if it is unknown.";
    static constexpr mode judged_in = mode::train;
    static constexpr std::size_t most_tokens = 8;  // that one rule can count

    selector select = &select::integer_inputs;
    std::int64_t tokens[most_tokens] = {0};  // padding, unknown, ...
    double limits[most_tokens] = {0.5};      // of each token, a fraction of all; AWS NLPSequenceRatio: 50 %
    std::uint64_t n = 1;                     // number of entries in use
    std::uint64_t window = 10;               // steps; AWS leaves it open

    [[nodiscard]] static constexpr nlp_sequence_ratio sagemaker_defaults() noexcept { return {.window = 1}; }

    // The counts of the last steps: for each step all tokens, then each of the `n`.
    struct sequences {
        slot_array<double> ring;  // of the last steps: elements, and how many of each token
        std::uint64_t steps = 0;  // so far
        bool open = false;        // the current step has its place in the ring
    };
    struct state {
        per_tensor<sequences> inputs;
        slot_array<double> scratch;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        sequences* const mine = seen.inputs.declare(tensor);
        return mine != nullptr && mine->ring.grow(length() * (counted() + 1));
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept {
        return key_of(name, counted(), tokens[0], tokens[1], tokens[2], tokens[3], tokens[4], tokens[5], tokens[6],
                      tokens[7]);
    }
    // Pushes the number of finite values, then the count of each token.
    constexpr void extract(state&, observation const&, tensor_ref const& values, feature& out) const noexcept {
        double all = 0, count[most_tokens]{};
        visit_seen(values, [&](auto const& all_values) {
            for (auto const& each : all_values) {
                seen_element const x = detail::see(each);
                if (x.kind >= number_class::pos_inf) { continue; }
                ++all;
                for (std::size_t k = 0; k < counted(); ++k) {
                    count[k] += x.value == static_cast<double>(tokens[k]) ? 1 : 0;
                }
            }
        });
        out.push(all);
        for (std::size_t k = 0; k < counted(); ++k) { out.push(count[k]); }
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        std::size_t const width = counted() + 1;
        if (it.step.mode != mode::train || made.size() != width) { return; }
        for (double const& each : made) {
            if (!is_finite(each)) { return; }
        }
        sequences* const mine = made[0] > 0 ? seen.inputs.reach(it.tensor.id) : nullptr;
        if (mine == nullptr || !mine->ring.holds(length() * width - 1)) { return; }
        if (!std::exchange(mine->open, true)) {
            ++mine->steps;
            for (std::size_t k = 0; k < width; ++k) { place(*mine)[k] = 0; }
        }
        for (std::size_t k = 0; k < width; ++k) { place(*mine)[k] += made[k]; }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        truth answer = truth::undecided;
        violation found;
        std::size_t which = 0;
        seen.inputs.take_touched([&](std::string_view tensor, sequences& mine) {
            mine.open = false;
            if (mine.steps < length() || n == 0) { return; }
            for (std::size_t k = 0; k < counted(); ++k) {
                double const share = share_of(mine, k);
                if (!(share > limits[k])) { continue; }
                answer = truth::yes;
                if (found.count == 0) { which = k; }
                found.blame(tensor, share);
                break;
            }
            answer = answer == truth::yes ? answer : truth::no;
        });
        if (answer == truth::yes) {
            finding it =
                found.as_finding("one token fills the sequences", "share of a token", relation::greater, limits[which]);
            it.detail << "token " << tokens[which];
            out.push(it);
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return n == 0 ? "parameter n not set" : "warm-up not reached: fewer than `window` steps";
    }

private:
    [[nodiscard]] constexpr std::size_t counted() const noexcept {
        return n < most_tokens ? static_cast<std::size_t>(n) : most_tokens;
    }
    [[nodiscard]] constexpr std::size_t length() const noexcept {
        constexpr std::uint64_t limit = 1U << 20U;
        return as_size(window < 1 ? 1 : window < limit ? window : limit);
    }
    // The place of the current step.
    [[nodiscard]] constexpr double* place(sequences& mine) const noexcept {
        return mine.ring.data() + (mine.steps - 1) % length() * (counted() + 1);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr double share_of(sequences const& mine, std::size_t token) const noexcept {
        SPOTTER_STRICT_BODY
        double all = 0, these = 0;
        for (std::size_t i = 0; i < length(); ++i) {
            all += mine.ring[i * (counted() + 1)];
            these += mine.ring[i * (counted() + 1) + token + 1];
        }
        return these / all;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
