// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): gradients that shrink or grow on their way to the first layer. docs/rules.md#gradient_depth_ratio
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>

namespace spotter::inline SPOTTER_ABI {

// q is the root mean square of the first weight's gradient over that of the last, of three or more that were observed
// in the step. Warning (info once training has settled) when q is below `vanish` and the first below `vanish_abs`, or q
// above `explode`, for `patience` closes in a row. First and last are in the order in which the gradients were observed
// when each was new, so observe those of the first layer first. Undefined where either has no finite element, and where
// the last is all zero. Train steps only.
struct gradient_depth_ratio {
    using kind = rule_kind;
    static constexpr std::string_view name = "gradient_depth_ratio";
    static constexpr std::string_view remedy =
        "Use normalisation, residual connections or a non-saturating activation near the named layer.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weight_gradients;
    double vanish = 1e-3;         // q; AUTOTRAINER's limits, on root mean squares so that the size of a layer cancels
    double vanish_abs = 1e-4;     // root mean square of the first
    double explode = 70;          // q; AUTOTRAINER
    std::uint64_t patience = 10;  // closes

    struct series {                // of one gradient
        measurement size{};        // of this step
        std::size_t place = 0;     // among the gradients, from 1 on; 0: not observed yet
        std::uint64_t streak = 0;  // as the first of the net: nets that take turns do not end each other's
        bool judged = false;       // the others are read for `settled`
    };
    struct state {
        per_tensor<series> all;
        std::size_t places = 0;
        settled_context settled;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::sum_squares : terms::none;
    }
    [[nodiscard]] constexpr terms context(tensor_info const& tensor) const noexcept {
        return settled_context::needs(tensor);
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (seen.all.declare(tensor) == nullptr) { return false; }
        seen.all[tensor.id].judged = select(tensor);
        return true;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        seen.settled.observe(it);
        if (it.step.mode != mode::train || seen.all.find(it.tensor.id) == nullptr || !seen.all[it.tensor.id].judged) {
            return;
        }
        series& mine = seen.all[it.tensor.id];
        if (mine.place == 0) { mine.place = ++seen.places; }
        mine.size = root_mean_square(it.stats);
        seen.all.touch(it.tensor.id);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        std::size_t const count = seen.all.touched().size();
        auto const [first, last] = ends(seen);
        seen.all.clear();
        if (count < 3) { return truth::undecided; }
        series& mine = seen.all[first];
        measurement const ratio = ratio_of(mine.size, seen.all[last].size);
        if (!ratio.known) { return truth::undecided; }
        bool const vanishes = ratio.value < vanish && mine.size.value < vanish_abs;
        bool const explodes = ratio.value > explode;
        mine.streak = vanishes || explodes ? mine.streak + 1 : 0;
        if (mine.streak == 0 || mine.streak < patience) { return truth::no; }
        culprit found;
        found.blame(seen.all.name_of(first), ratio.value);
        finding it = found.as_finding(
            vanishes ? "gradients vanish towards the first layer" : "gradients grow towards the first layer",
            "first gradient over last, root mean squares", vanishes ? relation::less : relation::greater,
            vanishes ? vanish : explode, seen.settled.soften(severity::warning));
        it.detail << mine.size.value << " against " << seen.all[last].size.value << " of " << seen.all.name_of(last);
        out.push(it);
        return truth::yes;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "fewer than three gradients of weights in a step, or the last all zero";
    }

private:
    struct pair_of_ends {
        tensor_id first = 0, last = 0;
    };
    [[nodiscard]] static constexpr pair_of_ends ends(state const& seen) noexcept {
        std::span<tensor_id const> const all = seen.all.touched();
        pair_of_ends found;
        if (!all.empty()) { found = {all.front(), all.front()}; }
        for (tensor_id const id : all) {
            if (seen.all[id].place < seen.all[found.first].place) { found.first = id; }
            if (seen.all[id].place > seen.all[found.last].place) { found.last = id; }
        }
        return found;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr measurement root_mean_square(summary const& of) noexcept {
        SPOTTER_STRICT_BODY
        if (!has(of.has, terms::sum_squares) || of.finite() == 0 || !is_finite(of.sum_squares)) { return {}; }
        return {square_root(of.sum_squares / static_cast<double>(of.finite())), true};
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr measurement ratio_of(measurement first, measurement last) noexcept {
        SPOTTER_STRICT_BODY
        if (!first.known || !last.known || !(last.value > 0)) { return {}; }
        measurement ratio{first.value / last.value, true};
        ratio.known = is_finite(ratio.value);
        return ratio;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
