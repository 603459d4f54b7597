// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): initial weights from which training cannot start. docs/rules.md#poor_weight_initialization
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/any_values.hpp>
#include <spotter/stat/distribution.hpp>
#include <spotter/stat/statistic.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// The tensors that show the initialization, in addition to the loss.
[[nodiscard]] constexpr bool beginnings(tensor_info const& tensor) noexcept {
    return tensor.role == role::preactivation || weights(tensor) || weight_gradients(tensor);
}

}  // namespace select

// Warning where, during the first `steps` train closes with such a tensor, (a) the variances of preactivations differ
// by a factor of more than `threshold`, or (b) 90 % of some weight's gradient, P5 to P95, lie within less than
// `distribution_range`, while (c) the loss has not gone below its best for `patience` observations. (a) and (b) alone
// hold in many healthy nets: factors of 10 to 25 are usual with uniform weights within 1/sqrt(n), and deep nets reach
// 200. Also where (d) at least two weights that are no tables had one value in all elements at their first observation.
// They are all weights (tables count among these), or half of them and not zero. A table changes element by element:
// one of them rests while others of its row and of its column have moved. Two of them are layers one behind the other:
// the rows of one are the columns of the other. Linear models that begin at zero are not. (d) is decided
// `steps` steps after the first observation, and undecided until then. A weight that is first shown after an update had
// one value if the elements of each row, or of each column, are alike within rounding, and still are after those steps,
// which have changed it: a grid that rests is alike, too. Gradients are read during the first `steps` closes only, and
// the values of a weight only until it is decided. Other later closes are undecided.
struct poor_weight_initialization {
    using kind = rule_kind;
    static constexpr std::string_view name = "poor_weight_initialization";
    static constexpr std::string_view remedy =
        "Initialise randomly with variance 2/fan_in (ReLU) or 2/(fan_in + fan_out) (tanh, sigmoid).";
    static constexpr mode judged_in = mode::train;
    enum condition : std::uint8_t { began_alike = 1, far_apart, all_alike, loss_stands };

    selector select = &select::beginnings;
    double threshold = 1000;            // largest over smallest variance; AWS PoorWeightInitialization: 10
    double distribution_range = 0.001;  // P95 - P5; AWS
    std::uint64_t patience = 5;         // observations of the loss; AWS
    std::uint64_t steps = 10;           // closes; AWS. Of (d) steps of the loop
    bool symmetry = true;               // judge (d)
    bool conjunct = true;               // (a) and (b) only together with (c); otherwise each of the three alone

    // AWS documents three conditions, each sufficient.
    [[nodiscard]] static constexpr poor_weight_initialization sagemaker_defaults() noexcept {
        return {.threshold = 10, .symmetry = false, .conjunct = false};
    }

    struct extreme {                // the largest or the smallest variance of a step
        std::string_view tensor{};  // empty: none yet
        double value = 0;           // its variance
    };
    struct layer_size {
        std::size_t rows = 0, columns = 0;
        bool is_convolution = false;
    };
    struct beginning {                    // of a weight
        bool met = false, waits = false;  // it was observed; it had one value, and is not judged yet
        bool by_lines = false;            // it was updated before, and its rows or columns were alike
        bool is_table = false;            // its elements change one by one
        bool is_alike = false;            // it had one value, and is no table
        double value = 0, most = 0;       // that one; by lines the least and the largest
        std::uint64_t index = 0;          // of the step
        layer_size size{};
    };
    struct state {
        per_tensor<beginning> weights;       // by tensor id
        slot_array<std::uint64_t> scratch;   // of a gradient, while it is sorted
        slot_array<bool> moved;              // of a weight that waits: which rows and which columns
        std::uint64_t met = 0, waiting = 0;  // weights; those that began with one value and are not judged yet
        std::uint64_t alike_not_zero = 0;    // of those that began with one value
        violation alike{};                   // these
        bool judged = false;                 // a weight was at this close
        bool by_lines = false;               // some by their rows or columns
        std::uint64_t closes = 0;
        bool observed = false;          // in this step
        extreme widest{}, narrowest{};  // variances of this step
        violation crowded{};            // gradients of this step
        bool any_variance = false, any_spread = false;
        tensor_id loss = no_tensor;  // the first that is observed
        std::string_view loss_name{};
        double best = 0, latest = 0;
        bool any_loss = false, new_loss = false;
        std::uint64_t stale = 0;  // observations since the best
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        if (!select(tensor)) { return stats_mask::none; }
        switch (tensor.role) {
            case role::preactivation:
                return stats_mask::variance | stats_mask::sum;
            case role::gradient:
                return stats_mask::feature;
            case role::weight:
                return symmetry ? stats_mask::range | stats_mask::feature : stats_mask::range;
            default:
                return stats_mask::none;
        }
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return tensor.role == role::loss ? stats_mask::sum : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (seen.weights.declare(tensor) == nullptr) { return false; }
        bool const sorted = tensor.role == role::gradient && seen.closes < steps;
        return !sorted || seen.scratch.grow(as_size(tensor.shape.elements()));
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of(name); }
    [[nodiscard]] constexpr bool looks(state const& seen, observation const& it) const noexcept {
        if (it.tensor.role == role::weight) { return waits(seen, it) || is_new_and_updated(seen, it); }
        return seen.closes < steps;
    }
    // Of a weight whether its elements have changed one by one, or where it is shown after an update, whether its rows
    // or its columns are alike; of a gradient P95 - P5 of the finite elements.
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        if (it.tensor.role == role::weight) {
            bool const by_lines = is_new_and_updated(seen, it) || seen.weights[it.tensor.id].by_lines;
            return by_lines ? extract_alike(values, out) : extract_rests(seen, it, values, out);
        }
        if (!seen.scratch.grow(static_cast<std::size_t>(values.count))) { return out.give_up(); }
        std::size_t count = 0;
        visit_seen(values, [&](auto const& all) {
            for (auto const& each : all) {
                seen_element const x = detail::see(each);
                if (x.kind < number_class::pos_inf) { seen.scratch[count++] = detail::key_of(x.value); }
            }
        });
        if (count == 0) { return; }
        std::array<std::size_t, 2> const ranks{detail::nearest_rank(50, count), detail::nearest_rank(950, count)};
        detail::select_ranks({seen.scratch.data(), count}, 0, ranks);
        out.push(detail::value_of_key(seen.scratch[ranks[1]]) - detail::value_of_key(seen.scratch[ranks[0]]));
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        if (it.step.mode != mode::train) { return; }
        if (it.tensor.role == role::weight) { return observe_weight(seen, it, made); }
        if (seen.closes >= steps) { return; }
        switch (it.tensor.role) {
            case role::preactivation:
                observe_variance(seen, it);
                break;
            case role::gradient:
                if (made.empty() || !is_finite(made[0])) { return; }
                seen.observed = seen.any_spread = true;
                if (made[0] < distribution_range) { seen.crowded.blame(it, made[0]); }
                break;
            case role::loss:
                observe_loss(seen, it);
                break;
            default:
                break;
        }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        bool const is_due = std::exchange(seen.judged, false);
        truth const began = is_due ? judge_weights(seen, out) : truth_of_waiting(seen);
        violation const crowded = std::exchange(seen.crowded, {});
        bool const any_spread = std::exchange(seen.any_spread, false);
        bool const any_variance = std::exchange(seen.any_variance, false);
        if (!std::exchange(seen.observed, false) || seen.closes >= steps) { return is_due ? began : truth::undecided; }
        if (++seen.closes >= steps) { seen.scratch = {}; }
        count_loss(seen);
        truth const apart = any_variance ? variances_apart(seen) : truth::undecided;
        truth const narrow = any_spread ? truth_of(crowded.count > 0) : truth::undecided;
        truth const stuck = seen.any_loss ? truth_of(seen.stale >= patience) : truth::undecided;
        bool const with_loss = !conjunct || stuck == truth::yes;
        if (apart == truth::yes && with_loss) { tell_variances(seen, out); }
        if (narrow == truth::yes && with_loss) {
            out.push(crowded.as_finding({"gradients are all alike", all_alike}, "95th - 5th percentile", relation::less,
                                        distribution_range));
        }
        if (stuck == truth::yes && !conjunct) { tell_loss(seen, out); }
        truth const early = disjunction(apart, narrow);
        return disjunction(began, conjunct ? conjunction(early, stuck) : disjunction(early, stuck));
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "not enough observed in the first steps: weights, and a loss with preactivations or gradients";
    }

private:
    static constexpr double alike_lines = 2;  // an answer of extract()

    static constexpr void observe_variance(state& seen, observation const& it) noexcept {
        measurement const found = variance(it.stats);
        if (!found.known || !is_finite(found.value)) { return; }
        extreme const here{it.tensor.name, found.value};
        bool const first = !std::exchange(seen.any_variance, true);
        if (first || here.value > seen.widest.value) { seen.widest = here; }
        if (first || here.value < seen.narrowest.value) { seen.narrowest = here; }
        seen.observed = true;
    }
    [[nodiscard]] constexpr bool waits(state const& seen, observation const& it) const noexcept {
        if (seen.waiting == 0) { return false; }
        beginning const* const mine = seen.weights.find(it.tensor.id);
        if (mine == nullptr || !mine->waits || mine->is_table) { return false; }
        return it.step.index > mine->index && (!mine->by_lines || is_due(*mine, it));
    }
    [[nodiscard]] constexpr bool is_due(beginning const& mine, observation const& it) const noexcept {
        return it.step.index >= mine.index && it.step.index - mine.index >= steps;
    }
    // Its first observation, and its beginning was not shown.
    [[nodiscard]] constexpr bool is_new_and_updated(state const& seen, observation const& it) const noexcept {
        beginning const* const mine = seen.weights.find(it.tensor.id);
        return symmetry && mine != nullptr && !mine->met && it.tensor.instant == instant::after_update;
    }
    static constexpr void call_alike(state& seen, beginning& mine, observation const& it) noexcept {
        mine.is_alike = true;
        seen.alike.blame(it, 0);
        seen.alike_not_zero += mine.value != 0 ? 1U : 0U;
    }
    constexpr void observe_weight(state& seen, observation const& it, std::span<double const> made) const noexcept {
        beginning* const mine = seen.weights.find(it.tensor.id);
        if (mine == nullptr || it.stats.finite() == 0) { return; }
        seen.observed = true;
        if (!mine->met) { return meet(seen, *mine, it, !made.empty() && made[0] == alike_lines); }
        if (!mine->waits) { return; }
        mine->is_table = mine->is_table || (!made.empty() && made[0] == 1);
        if (!is_due(*mine, it)) { return; }
        mine->waits = false, seen.judged = true;
        if (--seen.waiting == 0) { seen.moved = {}; }
        bool const has_changed = minimum(it.stats).value != mine->value || maximum(it.stats).value != mine->most;
        bool const are_lines = mine->by_lines && has_changed && !made.empty() && made[0] == alike_lines;
        seen.by_lines = seen.by_lines || are_lines;
        if (mine->by_lines ? are_lines : !mine->is_table) { call_alike(seen, *mine, it); }
    }
    constexpr void meet(state& seen, beginning& mine, observation const& it, bool by_lines) const noexcept {
        measurement const low = minimum(it.stats), high = maximum(it.stats);
        mine.met = true, mine.by_lines = by_lines, mine.index = it.step.index;
        mine.value = low.value, mine.most = high.value;
        ++seen.met;
        std::array<std::size_t, 2> const sides = sides_of(it.tensor.shape, order::row_major);
        bool const is_one = low.known && high.known && low.value == high.value && it.stats.finite() > 1;
        mine.size = {sides[1], sides[0], it.tensor.shape.rank > 2};
        mine.waits = by_lines || (symmetry && is_one && seen.moved.grow(sides[0] + sides[1]));
        seen.waiting += mine.waits ? 1U : 0U;
    }
    // How many elements run along the first axis and along all others, the faster of the two first.
    [[nodiscard]] static constexpr std::array<std::size_t, 2> sides_of(extents const& shape, order layout) noexcept {
        std::size_t const rows = as_size(shape.size[0]), rest = rows > 0 ? as_size(shape.elements()) / rows : 0;
        return layout == order::row_major ? std::array{rest, rows} : std::array{rows, rest};
    }
    // The elements of each row are alike, or those of each column, and not all elements are: they began alike, and get
    // the same updates. Two values are alike within rounding.
    static constexpr void extract_alike(tensor_ref const& values, feature& out) noexcept {
        std::array<std::size_t, 2> const sides = sides_of(values.shape, values.layout);
        std::size_t const width = sides[0], rows = sides[1];
        bool in_rows = width > 1 && rows > 1, in_columns = in_rows, in_all = true;
        visit_seen(values, [&](auto const& all) {
            auto const are_alike = [&](std::size_t i, std::size_t j) {
                double const one = detail::see(all[i]).value, other = detail::see(all[j]).value;
                return magnitude(one - other) <= 1e-5 * magnitude(one);
            };
            for (std::size_t i = 0; (in_rows || in_columns) && i < width * rows; ++i) {
                in_rows = in_rows && are_alike(i / width * width, i);
                in_columns = in_columns && are_alike(i % width, i);
                in_all = in_all && are_alike(0, i);
            }
        });
        out.push((in_rows || in_columns) && !in_all ? alike_lines : 0);
    }
    // An element has the value that all had, though another one of its row and one of its column have not.
    static constexpr void extract_rests(state& seen, observation const& it, tensor_ref const& values,
                                        feature& out) noexcept {
        std::array<std::size_t, 2> const sides = sides_of(values.shape, values.layout);
        std::size_t const width = sides[0];
        if (!seen.moved.grow(width + sides[1])) { return out.give_up(); }
        for (bool& each : seen.moved) { each = false; }
        double const was = seen.weights[it.tensor.id].value;
        bool found = false;
        visit_seen(values, [&](auto const& all) {
            auto const rests = [&](std::size_t i) { return detail::see(all[i]).value == was; };
            std::size_t i = 0;
            for (std::size_t row = width; row < width + sides[1]; ++row) {
                for (std::size_t column = 0; column < width; ++column, ++i) {
                    if (!rests(i)) { seen.moved[column] = seen.moved[row] = true; }
                }
            }
            i = 0;
            for (std::size_t row = width; row < width + sides[1]; ++row) {
                for (std::size_t column = 0; column < width; ++column, ++i) {
                    found = found || (seen.moved[column] && seen.moved[row] && rests(i));
                }
            }
        });
        out.push(found ? 1 : 0);
    }
    // (d) at a close at which no weight is judged.
    [[nodiscard]] constexpr truth truth_of_waiting(state const& seen) const noexcept {
        return symmetry && (seen.met == 0 || seen.waiting > 0) ? truth::undecided : truth::no;
    }
    // By their sizes: the outputs of one are the inputs of the next, which may have one more for its biases; of a
    // convolution so many places of them; of a recurrent layer three or four gates.
    [[nodiscard]] static constexpr bool leads_to(layer_size const& one, layer_size const& next) noexcept {
        if (one.rows < 2 || next.columns < 2) { return false; }
        if (one.is_convolution) { return next.columns % one.rows == 0; }
        return one.rows == next.columns || one.rows + 1 == next.columns || one.rows == next.columns + 1 ||
               one.rows == 3 * next.columns || one.rows == 4 * next.columns;
    }
    // Whether one of the weights that began alike leads to another one of them.
    [[nodiscard]] static constexpr bool any_chain(state const& seen) noexcept {
        bool any = false;
        seen.weights.each_named([&](std::string_view, beginning const& one) {
            seen.weights.each_named([&](std::string_view, beginning const& next) {
                any = any || (&one != &next && one.is_alike && next.is_alike && leads_to(one.size, next.size));
            });
        });
        return any;
    }
    [[nodiscard]] constexpr truth judge_weights(state& seen, findings& out) const noexcept {
        bool const is_net = seen.alike.count == seen.met || 2 * seen.alike_not_zero >= seen.met;
        bool const is_deep = seen.alike_not_zero >= 2 || any_chain(seen);
        return truth_of(seen.alike.count >= 2 && is_deep && is_net &&
                        seen.alike.tell(out, {"weights began with one value", began_alike},
                                        seen.by_lines ? "spread within a row or a column" : "maximum - minimum",
                                        relation::less_equal, 0));
    }
    static constexpr void observe_loss(state& seen, observation const& it) noexcept {
        measurement const value = mean(it.stats);
        if (seen.loss == no_tensor) { seen.loss = it.tensor.id, seen.loss_name = it.tensor.name; }
        if (!value.known || !is_finite(value.value) || seen.loss != it.tensor.id) { return; }
        seen.latest = seen.new_loss && seen.latest < value.value ? seen.latest : value.value;
        seen.new_loss = seen.observed = true;
    }
    static constexpr void count_loss(state& seen) noexcept {
        if (!std::exchange(seen.new_loss, false)) { return; }
        bool const better = !std::exchange(seen.any_loss, true) || seen.latest < seen.best;
        if (better) { seen.best = seen.latest; }
        seen.stale = better ? 0 : seen.stale + 1;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double ratio_of(state const& seen) noexcept {
        SPOTTER_STRICT_BODY
        return seen.widest.value / seen.narrowest.value;
    }
    // Yes without a ratio where the smallest is zero; undecided where all are.
    [[nodiscard]] constexpr truth variances_apart(state const& seen) const noexcept {
        if (!(seen.widest.value > 0)) { return truth::undecided; }
        return truth_of(!(seen.narrowest.value > 0) || ratio_of(seen) > threshold);
    }
    constexpr void tell_variances(state const& seen, findings& out) const noexcept {
        bool const bounded = seen.narrowest.value > 0;
        finding it;
        it.give({"variances of layers are far apart", far_apart});
        it.tensor = seen.narrowest.tensor;
        it.measure = bounded ? "largest over smallest variance" : "variance";
        it.measured = bounded ? ratio_of(seen) : 0;
        it.threshold = bounded ? threshold : 0;
        it.how = bounded ? relation::greater : relation::less_equal;
        it.detail << seen.narrowest.value << " here, " << seen.widest.value << " in " << seen.widest.tensor;
        out.push(it);
    }
    constexpr void tell_loss(state const& seen, findings& out) const noexcept {
        finding it;
        it.give({"the loss does not fall", loss_stands});
        it.tensor = seen.loss_name;
        it.measure = "observations without a lower loss";
        it.measured = static_cast<double>(seen.stale);
        it.threshold = static_cast<double>(patience);
        it.how = relation::greater_equal;
        out.push(it);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
