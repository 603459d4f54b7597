// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): gradients that shrink or grow on their way to the first layer. docs/rules.md#gradient_depth_ratio
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/nets.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

// q is the root mean square of the first weight's gradient divided by that of the last, with three gradients or more
// observed in the step. Warning (note once training has settled) for `patience` closes in a row: when q is below
// `vanish` and the first is below `vanish_abs`, or when q is above `explode`. First and last follow the order in which
// the gradients were first observed, so observe the first layer first. Nets with losses of their own (nets.hpp) are
// judged separately, at most eight of them. Undecided where either gradient has no finite element, and where the last
// is all zero. Train steps only.
struct gradient_depth_ratio {
    using kind = rule_kind;
    static constexpr std::string_view name = "gradient_depth_ratio";
    static constexpr std::string_view remedy =
        "Use normalisation, residual connections or a non-saturating activation near the named layer.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weight_gradients;
    double vanish = 1e-3;         // q; AUTOTRAINER's limits, applied to root mean squares so that the size of a layer
                                  // cancels
    double vanish_abs = 1e-4;     // root mean square of the first gradient
    double explode = 70;          // q; AUTOTRAINER
    std::uint64_t patience = 10;  // closes

    struct series {                // of one gradient
        measurement size{};        // of this step
        std::size_t place = 0;     // order among the gradients, from 1 on; 0: not observed yet
        std::uint64_t streak = 0;  // as the first gradient of its net, so that nets which alternate do not reset each
                                   // other
        std::uint32_t losses = 0;  // bits of its net's losses; of a loss: its own bit
        bool judged = false;       // it is a gradient; otherwise a loss
    };
    struct state {
        per_tensor<series> all;
        std::size_t places = 0, loss_count = 0;
        std::array<tensor_id, 16> losses{};  // the first 16
        settled_context settled;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum_squares : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return settled_context::needs(tensor);
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        series* const mine = seen.all.declare(tensor);
        if (mine == nullptr) { return false; }
        mine->judged = select(tensor);
        if (mine->judged) {
            for (std::size_t i = 0; i < seen.loss_count; ++i) {
                if (is_of_net(seen.all.name_of(seen.losses[i]), tensor.name)) { mine->losses |= 1U << i; }
            }
        } else if (mine->losses == 0 && seen.loss_count < seen.losses.size()) {
            mine->losses = 1U << seen.loss_count;
            seen.losses[seen.loss_count++] = tensor.id;
            seen.all.each_named([&](std::string_view gradient, series& other) {
                if (other.judged && is_of_net(tensor.name, gradient)) { other.losses |= mine->losses; }
            });
        }
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
        std::array<net, 8> nets{};
        std::size_t const count = nets_of_step(seen, nets);
        truth answer = truth::undecided;
        for (std::size_t i = 0; i < count; ++i) {
            truth const one = judge(seen, nets[i], out);
            if (one == truth::yes || answer == truth::undecided) { answer = one; }
        }
        seen.all.clear();
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "fewer than three gradients of weights in a step, or the last all zero";
    }

private:
    [[nodiscard]] static constexpr bool is_of_net(std::string_view loss, std::string_view gradient) noexcept {
        return is_loss_of_net(loss, net_of(gradient_of(gradient)));
    }
    struct net {  // the gradients of one net in the step
        std::uint32_t losses = 0;
        std::size_t gradients = 0;
        tensor_id first = 0, last = 0;
    };
    [[nodiscard]] static constexpr std::size_t nets_of_step(state const& seen, std::span<net> nets) noexcept {
        std::size_t count = 0;
        for (tensor_id const id : seen.all.touched()) {
            series const& mine = seen.all[id];
            std::size_t at = 0;
            while (at < count && nets[at].losses != mine.losses) { ++at; }
            if (at == nets.size()) { continue; }
            if (at == count) { nets[count++] = {mine.losses, 0, id, id}; }
            net& its = nets[at];
            ++its.gradients;
            if (mine.place < seen.all[its.first].place) { its.first = id; }
            if (mine.place > seen.all[its.last].place) { its.last = id; }
        }
        return count;
    }
    [[nodiscard]] constexpr truth judge(state& seen, net const& it, findings& out) const noexcept {
        if (it.gradients < 3) { return truth::undecided; }
        series& first = seen.all[it.first];
        series const& last = seen.all[it.last];
        measurement const ratio = ratio_of(first.size, last.size);
        if (!ratio.known) { return truth::undecided; }
        bool const vanishes = ratio.value < vanish && first.size.value < vanish_abs;
        bool const explodes = ratio.value > explode;
        first.streak = vanishes || explodes ? first.streak + 1 : 0;
        if (first.streak == 0 || first.streak < patience) { return truth::no; }
        violation found;
        found.blame(seen.all.name_of(it.first), ratio.value);
        finding made = found.as_finding(
            vanishes ? "gradients vanish towards the first layer" : "gradients grow towards the first layer",
            "first gradient over last, root mean squares", vanishes ? relation::less : relation::greater,
            vanishes ? vanish : explode, seen.settled.soften(severity::warning));
        made.detail << first.size.value << " against " << last.size.value << " of " << seen.all.name_of(it.last);
        out.push(made);
        return truth::yes;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr measurement root_mean_square(summary const& of) noexcept {
        SPOTTER_STRICT_BODY
        if (!has(of.has, stats_mask::sum_squares) || of.finite() == 0 || !is_finite(of.sum_squares)) { return {}; }
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
