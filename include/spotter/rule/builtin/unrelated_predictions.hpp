// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): regression outputs that are unrelated to their targets. docs/rules.md#unrelated_predictions
#pragma once

#include <spotter/rule/builtin/classes.hpp>
#include <spotter/rule/builtin/sampled_values.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Judges windows of `samples` pairs of target and prediction, for each mode (train and eval), from the `warmup`-th
// train close and the `warmup_pairs`-th training pair on. Predictions are unrelated to their targets where the Pearson
// correlation of both is at most two of its standard errors, 1/sqrt(pairs), above zero; units and offsets do not
// matter. Warning after `patience` such windows in a row, until one is better. Targets are floating-point labels that
// are not classes: in at least half of a window's pairs a number is not whole, and there are at least three different
// targets. A step with a non-finite value is skipped. Targets and predictions of a step are paired where they have
// equally many elements, 64 pairs at most.
struct unrelated_predictions {
    using kind = rule_kind;
    static constexpr std::string_view name = "unrelated_predictions";
    static constexpr std::string_view remedy = "Check that targets belong to their inputs, that the loss has the right "
                                               "sign, and that the output is read as it is trained.";

    enum condition : std::uint8_t { unrelated = 1, opposed };  // opposed: they have learned the opposite

    selector select = role::label;
    selector predictions = role::prediction;  // floating-point tensors only
    std::uint64_t samples = 500;              // pairs of a window
    std::uint64_t warmup = 150;               // train closes
    std::uint64_t warmup_pairs = 5000;        // training pairs
    std::uint64_t patience = 3;               // windows

    struct window {  // of one mode
        // `fractions`: pairs with a number that is not whole; `bad`, `opposed`: unrelated windows in a row, and opposed
        std::uint64_t pairs = 0, fractions = 0, bad = 0, opposed = 0;
        double mean_target = 0, mean_said = 0;                      // over its pairs so far
        double squares_target = 0, squares_said = 0, products = 0;  // about the means
        double measured = 0, limit = 0;  // correlation, and its limit; of the last full window
        double against = 0;              // six standard errors below zero
        bool judged = false;             // at least one window was full
    };
    // The first targets, or the first predictions, of a step.
    struct side {
        std::uint64_t count = 0;                // elements; 0: not observed
        std::string_view tensor{};              // the tensor; empty: none in this step
        double values[sampled_values::most]{};  // the elements that are paired
    };
    struct state {
        side target, said;
        window by_mode[mode_count];
        std::uint64_t train_closes = 0, train_pairs = 0;
        double different[2]{};  // the first different targets
        std::uint32_t differ = 0;
    };

    static constexpr stats_mask watched = stats_mask::feature | stats_mask::nonfinite;
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) && is_floating(tensor.type) ? watched : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return predictions(tensor) && is_floating(tensor.type) ? watched : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state&, tensor_info const&) const noexcept { return true; }
    [[nodiscard]] constexpr std::uint64_t feature_key(state const&, tensor_info const&) const noexcept {
        return key_of("sampled values", sampled_values::most);
    }
    // Pushes the number of elements, then the sampled ones.
    constexpr void extract(state&, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        if (it.stats.nonfinite() > 0) { return; }
        sampled_values const some = sampled_values::of(values);
        out.push(static_cast<double>(values.count));
        for (std::size_t i = 0; i < sampled_values::most && i < values.count; ++i) { out.push(some.all[i]); }
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        if (it.step.mode == mode::predict || made.size() < 2 || made.size() > 1 + sampled_values::most) { return; }
        side& mine = select(it.tensor) ? seen.target : seen.said;
        if (mine.count != 0 || !is_finite(made[0]) || !(made[0] > 0)) { return; }
        mine.count = static_cast<std::uint64_t>(made[0]), mine.tensor = it.tensor.name;
        for (std::size_t i = 1; i < made.size(); ++i) { mine.values[i - 1] = made[i]; }
    }
    constexpr truth close(state& seen, step_id at, findings& out) const noexcept {
        seen.train_closes += at.mode == mode::train ? 1 : 0;
        std::uint64_t const target = std::exchange(seen.target.count, 0), said = std::exchange(seen.said.count, 0);
        if (target == 0 || target != said || at.mode == mode::predict) { return truth::undecided; }
        window& mine = seen.by_mode[index_of(at.mode)];
        for (std::size_t i = 0; i < sampled_values::most && i < target; ++i) {
            add(seen, mine, seen.target.values[i], seen.said.values[i]);
            seen.train_pairs += at.mode == mode::train ? 1 : 0;
        }
        if (mine.pairs >= samples && mine.pairs > 1) { judge(seen, mine); }
        if (!mine.judged) { return truth::undecided; }
        if (mine.bad == 0 || mine.bad < patience) { return truth::no; }
        violation const who{seen.target.tensor, mine.measured, 1};
        bool const is_opposed = mine.opposed >= patience;
        why_found const why = is_opposed ? why_found{"predictions run against their targets", opposed}
                                         : why_found{"predictions are unrelated to their targets", unrelated};
        out.push(who.as_finding(why, "correlation", relation::less_equal, is_opposed ? mine.against : mine.limit));
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return malformed_of(select, predictions); }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `samples` pairs of numbers that are no classes, or `warmup` train "
               "closes";
    }

private:
    // Co-moments by Welford (1962).
    SPOTTER_STRICT static constexpr void add(state& seen, window& to, double target, double said) noexcept {
        SPOTTER_STRICT_BODY
        bool const known =
            (seen.differ > 0 && target == seen.different[0]) || (seen.differ > 1 && target == seen.different[1]);
        if (!known && seen.differ < 2) { seen.different[seen.differ] = target; }
        seen.differ += known || seen.differ == 3 ? 0U : 1U;
        to.fractions += is_whole(target) && is_whole(said) ? 0U : 1U;
        double const count = static_cast<double>(++to.pairs);
        double const from_target = target - to.mean_target, from_said = said - to.mean_said;
        to.mean_target += from_target / count;
        to.mean_said += from_said / count;
        double a = from_target * (target - to.mean_target), b = from_said * (said - to.mean_said);
        double c = from_target * (said - to.mean_said);
        force_rounding(a), force_rounding(b), force_rounding(c);
        to.squares_target += a, to.squares_said += b, to.products += c;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr bool is_whole(double value) noexcept {
        SPOTTER_STRICT_BODY
        return magnitude(value) >= 0x1p52 || static_cast<double>(static_cast<std::int64_t>(value)) == value;
    }
    SPOTTER_STRICT constexpr void judge(state const& seen, window& mine) const noexcept {
        SPOTTER_STRICT_BODY
        bool const warm = seen.train_closes >= warmup && seen.train_pairs >= warmup_pairs;
        bool const numbers = seen.differ == 3 && 2 * mine.fractions >= mine.pairs && mine.squares_target > 0;
        if (warm && numbers && is_finite(mine.squares_target) && is_finite(mine.squares_said)) {
            double const spread = square_root(mine.squares_target) * square_root(mine.squares_said);
            mine.measured = spread > 0 ? mine.products / spread : 0;
            mine.limit = 2 / square_root(static_cast<double>(mine.pairs));
            mine.against = -6 / square_root(static_cast<double>(mine.pairs));
            mine.bad = mine.measured <= mine.limit ? mine.bad + 1 : 0;
            mine.opposed = mine.measured <= mine.against ? mine.opposed + 1 : 0;
            mine.judged = true;
        }
        mine.pairs = mine.fractions = 0;
        mine.mean_target = mine.mean_said = mine.squares_target = mine.squares_said = mine.products = 0;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
