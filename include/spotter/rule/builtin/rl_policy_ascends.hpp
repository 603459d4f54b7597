// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a policy that is updated against its own objective. docs/rules.md#rl_policy_ascends
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/statistic.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// Losses of a policy, by name: `policy_loss`, `actor/loss`, `surrogate`.
[[nodiscard]] constexpr bool policy_losses(tensor_info const& tensor) noexcept {
    if (tensor.role != role::loss) { return false; }
    for (std::string_view const word : {"policy", "actor", "surrogate", "pi_loss"}) {
        if (tensor.name.find(word) != std::string_view::npos) { return true; }
    }
    return false;
}

}  // namespace select

// Several updates on one batch of experience move the policy away from the one that gathered it. Each lowers the
// surrogate loss (Schulman et al. 2017), so the loss falls as the divergence grows. Error where it rises instead: the
// rank correlation of both (Spearman 1904) over the last 64 updates is above `correlation` in `patience` judgements in
// a row, one every 32 updates. Judged only if the divergence fell to under a quarter at least twice within the window,
// which marks new batches: a trend over the whole run proves nothing. Train steps only.
struct rl_policy_ascends {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_policy_ascends";
    static constexpr std::string_view remedy =
        "Check the sign of the policy's loss, of its gradient and of the advantages.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::policy_losses;
    selector divergence = "metric/approx_kl";  // of the same update, from the policy that gathered the batch
    double correlation = 0.8;                  // -1 to 1
    std::uint64_t patience = 2;                // judgements

    static constexpr std::size_t updates = 64, apart = 32;  // of a window; between judgements
    struct state {
        std::array<double, updates> losses{}, divergences{};  // of the last updates, the oldest at `seen % updates`
        std::uint64_t seen = 0, yes = 0;                      // updates; judgements in a row that said yes
        std::string_view name{};                              // of the first selected loss
        tensor_id loss_id = no_tensor;
        measurement loss{}, divergence{};  // of this step
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return divergence(tensor) ? stats_mask::sum : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& all, tensor_info const& tensor) const noexcept {
        if (all.loss_id == no_tensor && select(tensor)) { all.loss_id = tensor.id, all.name = tensor.name; }
        return true;
    }
    constexpr void observe(state& all, observation const& it) const noexcept {
        if (it.step.mode != mode::train) { return; }
        if (it.tensor.id == all.loss_id) {
            all.loss = mean(it.stats);
        } else if (divergence(it.tensor)) {
            all.divergence = mean(it.stats);
        }
    }
    constexpr truth close(state& all, step_id, findings& out) const noexcept {
        measurement const loss = std::exchange(all.loss, {}), moved = std::exchange(all.divergence, {});
        if (!loss.known || !moved.known) { return truth::undecided; }
        std::size_t const at = as_size(all.seen++ % updates);
        all.losses[at] = loss.value, all.divergences[at] = moved.value;
        if (all.seen < updates || all.seen % apart != 0 || falls_back(all) < 2) { return truth::undecided; }
        double const found = agreement(all);
        all.yes = found > correlation ? all.yes + 1 : 0;
        if (all.yes == 0 || all.yes < patience) { return truth::no; }
        violation who;
        who.blame(all.name, found);
        return truth_of(who.tell(out, "the policy's loss rises as the policy moves",
                                 "rank correlation with the divergence", relation::greater, correlation,
                                 severity::error));
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return select.malformed().empty() ? divergence.malformed() : select.malformed();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "a policy's loss and divergence were not seen together in 64 updates, several of them on each batch";
    }

private:
    // How often the divergence started anew.
    [[nodiscard]] SPOTTER_STRICT static constexpr std::uint64_t falls_back(state const& all) noexcept {
        SPOTTER_STRICT_BODY
        std::uint64_t found = 0;
        for (std::size_t i = 1; i < updates; ++i) {
            double const before = all.divergences[as_size((all.seen + i - 1) % updates)];
            double const now = all.divergences[as_size((all.seen + i) % updates)];
            found += 4 * now < before ? 1 : 0;
        }
        return found;
    }
    // Spearman's rank correlation; ties have the mean of their ranks.
    [[nodiscard]] SPOTTER_STRICT static constexpr double agreement(state const& all) noexcept {
        SPOTTER_STRICT_BODY
        double both = 0, of_losses = 0, of_divergences = 0;
        for (std::size_t i = 0; i < updates; ++i) {
            double const a = rank(all.losses, i), b = rank(all.divergences, i);
            both += a * b, of_losses += a * a, of_divergences += b * b;
        }
        double const spread = square_root(of_losses * of_divergences);
        return spread > 0 ? both / spread : 0;
    }
    // Twice the distance from the middle rank.
    [[nodiscard]] SPOTTER_STRICT static constexpr double rank(std::array<double, updates> const& of,
                                                              std::size_t at) noexcept {
        SPOTTER_STRICT_BODY
        double made = 0;
        for (double const each : of) { made += each < of[at] ? 1 : each > of[at] ? -1 : 0; }
        return made;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
