// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a first loss that is implausible for an untrained model. docs/rules.md#initial_loss
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the first finite training loss is above `high` or below `low` times the loss of guessing. Judges at one
// close; all others are undecided. A run that starts from trained weights has no such loss: leave the rule out, or
// limit it to the first steps, `initial_loss{...} | only{before{100}}`.
struct initial_loss {
    using kind = rule_kind;
    static constexpr std::string_view name = "initial_loss";
    static constexpr std::string_view remedy =
        "Check reduction (sum or mean), output scale and the loss's expected input.";
    static constexpr mode judged_in = mode::train;

    selector select = role::loss;
    double expected = 0;   // the loss of guessing, as returned below; required, above 0
    double high = 3;       // times `expected`
    double low = 1.0 / 3;  // times `expected`

    // Loss of guessing among that many classes, in nats.
    [[nodiscard]] static constexpr double cross_entropy(std::uint64_t classes) noexcept {
        return classes > 0 ? natural_log(static_cast<double>(classes)) : 0;
    }
    // Loss of guessing between two classes with one output, in nats.
    [[nodiscard]] static constexpr double binary() noexcept { return natural_log(2); }
    // Loss of always predicting the mean, with targets of that variance.
    [[nodiscard]] static constexpr double mse(double target_variance) noexcept { return target_variance; }

    struct kept {
        bool judged = false;
    };
    struct first_loss : judged_value {  // the first loss of a tensor
        double limit = 0;               // the limit that it violates
    };
    static constexpr stats_mask watched = stats_mask::sum;
    [[nodiscard]] constexpr first_loss judge(kept& mine, observation const& it) const noexcept {
        measurement const loss = loss_of(it);
        if (!loss.known || !is_set() || std::exchange(mine.judged, true)) { return {}; }
        double const limit = violated(loss.value);
        return {judged_value{loss.value, limit > 0}, limit};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, first_loss const& first) const noexcept {
        bool const above = who.measured > expected;
        finding it = who.as_finding(above ? "first loss is too high" : "first loss is too low", "first training loss",
                                    above ? relation::greater : relation::less, first.limit);
        it.detail << "guessing costs " << expected;
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return is_set() ? "no finite training loss" : "parameter expected not set";
    }

private:
    [[nodiscard]] constexpr bool is_set() const noexcept { return is_finite(expected) && expected > 0; }
    // The limit that the loss violates; 0: none.
    [[nodiscard]] SPOTTER_STRICT constexpr double violated(double loss) const noexcept {
        SPOTTER_STRICT_BODY
        double const most = high * expected;
        double const least = low * expected;
        return loss > most ? most : loss < least ? least : 0;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
