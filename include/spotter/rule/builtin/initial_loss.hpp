// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a first loss that an untrained model cannot have. docs/rules.md#initial_loss
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/streaks.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the first finite training loss is above `high` or below `low` times the loss that guessing costs. Judged at one close;
// all others are undecided. A run that begins with trained weights has no such loss: leave the rule out, or have it see the first steps
// only, `initial_loss{...} | only{before{100}}`.
struct initial_loss {
    using kind = rule_kind;
    static constexpr std::string_view name = "initial_loss";
    static constexpr std::string_view remedy =
        "Check reduction (sum or mean), output scale and the loss's expected input.";
    static constexpr mode judged_in = mode::train;

    selector select = role::loss;
    double expected = 0;   // the loss of guessing, as below; required, above 0
    double high = 3;       // times `expected`
    double low = 1.0 / 3;  // times `expected`

    // What guessing costs: among so many classes, of two with one output, and of the mean of targets with that variance.
    [[nodiscard]] static constexpr double cross_entropy(std::uint64_t classes) noexcept {
        return classes > 0 ? natural_log(static_cast<double>(classes)) : 0;
    }
    [[nodiscard]] static constexpr double binary() noexcept { return natural_log(2); }
    [[nodiscard]] static constexpr double mse(double target_variance) noexcept { return target_variance; }

    struct state {
        slots<bool> judged;  // by tensor id
        close_answer answer;
        double limit = 0;  // of the first that is found
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::sum : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.judged.grow(tensor.id + std::size_t{1});
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const loss = loss_of(it);
        if (it.step.mode != mode::train || !loss.known || !is_set()) { return; }
        if (!seen.judged.holds(it.tensor.id) || std::exchange(seen.judged[it.tensor.id], true)) { return; }
        seen.answer.judged = true;
        double const limit = violated(loss.value);
        if (!(limit > 0)) { return; }
        if (seen.answer.found.count == 0) { seen.limit = limit; }
        seen.answer.found.blame(it, loss.value);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        culprit found;
        truth const answer = seen.answer.take(found);
        if (answer == truth::yes) {
            bool const above = found.measured > expected;
            finding it = found.as_finding("first training loss", above ? relation::greater : relation::less, seen.limit,
                                          severity::warning);
            it.reason = above ? "first loss is too high" : "first loss is too low";
            it.detail << "guessing costs " << expected;
            out.push(it);
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return is_set() ? "no finite training loss" : "parameter expected not set";
    }

private:
    [[nodiscard]] constexpr bool is_set() const noexcept { return is_finite(expected) && expected > 0; }
    // The limit that the loss is beyond; 0 for none.
    [[nodiscard]] SPOTTER_STRICT constexpr double violated(double loss) const noexcept {
        SPOTTER_STRICT_BODY
        double const most = high * expected;
        double const least = low * expected;
        return loss > most ? most : loss < least ? least : 0;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
