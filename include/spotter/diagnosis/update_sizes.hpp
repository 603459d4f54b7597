// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): how large weights began, and how far each update moves them, both without units.
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/diagnosis/block_series.hpp>
#include <spotter/diagnosis/limits.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/update_ratio.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// For each weight matrix: its initial scale and its update ratios. The scale is the root mean square times the root of
// the fan-in, when the matrix was first seen. It is about 1 to 2 where layers keep the size of their signals (Glorot &
// Bengio 2010, He et al. 2015).
class update_sizes {
public:
    static constexpr std::uint64_t first_updates = 5;
    static constexpr double next_to_nothing = 1e-6;  // an update ratio below which nothing moves: float32 has 24 bits
    // An update ratio: a weight that has moved by more rests below it. Float32 has 24 bits; float64 goes on.
    static constexpr double at_rest = 0x1p-24;
    static constexpr double little = 1e-4;       // an update ratio: a weight that moves by more learns
    static constexpr double far_enough = 0.01;   // a sum of update ratios: such a weight needs no closer look
    static constexpr double begun = 0.01;        // a scale: below it a weight begins next to zero
    static constexpr double small_scale = 0.15;  // a weight that begins below it may leap in a healthy run
    static constexpr double overflowed = 100;    // times a weight: no healthy update makes it that large
    static constexpr double leap = diagnosis_limits{}.leap, large_step = diagnosis_limits{}.large_step;
    static constexpr double far_above = 100;  // times the largest before: a gradient that jumped

    struct weight {
        double scale = 0;                           // at the first observation; 0: not seen, not finite, or all zero
        double early = 0;                           // the largest update ratio of the first updates
        double peak = 0;                            // the largest update ratio; fades by 2 % an update
        double highest = 0;                         // the largest update ratio, without fading
        double latest = 0;                          // the update ratio when last seen; 0: it did not move
        double path = 0;                            // the sum of its update ratios, each at most 1
        double steps = 0;                           // over which it moved by that
        double departs_at = 0;                      // its l2 norm before its first update that has a ratio
        double travelled = 0, longest = 0;          // the lengths of these updates: their sum, and the largest
        double reach = 0;                           // the sum of update length times gradient norm
        step_id met_at{}, early_at{};               // steps of the first observation, of `early`
        step_id peak_at{}, highest_at{};            // steps of `peak`, of `highest`
        std::uint64_t moves = 0, rests = 0;         // observations that differ from the one before, and that do not
        std::uint64_t highest_move = 0;             // `moves` when `highest` was seen
        std::uint64_t resting = 0;                  // the latest observations in a row without a change
        bool seen = false, one_value = false;       // one_value: at first all its elements were equal
        bool from_the_start = false;                // its first observation came before any update
        bool is_peaked = false;                     // at first one element was seven times the root mean square
        bool has_gradient = false, pulled = false;  // a gradient was seen; one that was not zero
        bool pulls = false;                         // the latest gradient was not zero
        bool shrinks = false;                       // the latest update did nothing but shrink it, as a decay does
        std::uint64_t straight_leaps = 0;  // the latest updates in a row that added half of its size or more, outwards
        double first_size = 0, size = 0;   // its first and its latest l2 norm; the latest while it was finite
        double gradient = 0, largest_gradient = 0;  // the l2 norms of the latest and the largest gradient
        double jump = 0;                            // the first gradient that jumped, over the largest before
        step_id jumped_at{};                        // its step
        double pull = 0, latest_pull = 0;           // the largest and the latest product of norm and gradient norm
        double growth = 0;  // once some elements are not finite: the size of the others over that before
        step_id growth_at{};
        std::uint64_t elements = 0;
        step_id last_at{};   // the step of the latest observation
        bool twice = false;  // it was seen twice in a step, with other values
        // The steps that showed the weight before and after its first leap; an early one does not count.
        std::uint64_t leapt_from = 0, leapt_to = 0;

        // The mean of its update ratios.
        [[nodiscard]] SPOTTER_STRICT constexpr double mean_update() const noexcept {
            SPOTTER_STRICT_BODY
            return steps > 0 ? path / steps : 0;
        }
        // Of its first values.
        [[nodiscard]] SPOTTER_STRICT constexpr double mean_square() const noexcept {
            SPOTTER_STRICT_BODY
            return elements > 0 ? first_size * first_size / static_cast<double>(elements) : 0;
        }
        // Its gradient, times its size, has fallen below a thousandth of the largest: the rate is not why it rests.
        [[nodiscard]] SPOTTER_STRICT constexpr bool has_converged() const noexcept {
            SPOTTER_STRICT_BODY
            return has_gradient && !(latest_pull > 1e-3 * pull);
        }
        // An update up to this counts as rest.
        [[nodiscard]] constexpr double rests_below() const noexcept {
            return has_gradient && highest > at_rest && !has_converged() ? at_rest : 0;
        }
        // It began at zero or next to it: any step is large beside it.
        [[nodiscard]] constexpr bool began_near_zero() const noexcept {
            return first_size == 0 || (scale > 0 && scale <= begun);
        }
        // `scale` is that of its beginning: it was seen before any update, or the first updates seen were below
        // `limit`, so that the one before them was, too.
        [[nodiscard]] constexpr bool shows_its_beginning(double limit) const noexcept {
            return from_the_start || (moves >= first_updates && early < limit);
        }
        // Its growth over the length of all its updates: 1 if it moves one way, and 1 / sqrt(moves) if at random.
        [[nodiscard]] SPOTTER_STRICT constexpr double straightness() const noexcept {
            SPOTTER_STRICT_BODY
            return travelled > 0 ? (size - departs_at) / travelled : 0;
        }
        // It moves one way in ten updates or more. No single one is half of the way.
        [[nodiscard]] SPOTTER_STRICT constexpr bool grows_straight() const noexcept {
            SPOTTER_STRICT_BODY
            return moves >= 10 && straightness() >= 0.7 && longest <= 0.5 * travelled;
        }
        // It runs away in one direction, by a factor from update to update. Under a rate that is too large such a
        // weight changes its direction.
        [[nodiscard]] constexpr bool runs_away() const noexcept { return straight_leaps >= 5; }
        // Its first leap was the update by the gradient that jumped.
        [[nodiscard]] constexpr bool was_thrown_by_a_jump() const noexcept {
            std::uint64_t const at = jumped_at.index;
            bool const by_it = from_the_start ? leapt_from <= at && at < leapt_to : leapt_from < at && at <= leapt_to;
            return jump > 0 && by_it && counted_early() < leap;
        }
        // It has shrunk to next to nothing: any step is large beside it.
        [[nodiscard]] constexpr bool has_vanished() const noexcept { return size < 0.05 * first_size; }
        // `early`, or 0 for a weight that began small.
        [[nodiscard]] constexpr double counted_early() const noexcept { return scale > small_scale ? early : 0; }
        // `highest` of a later update among the latest thousand, or 0 likewise, and for one that has vanished.
        [[nodiscard]] constexpr double counted_later() const noexcept {
            bool const is_recent = moves - highest_move <= 1000;
            return scale > small_scale && highest > early && is_recent && !has_vanished() ? highest : 0;
        }
    };

    [[nodiscard]] static constexpr stats_mask needs(tensor_info const& tensor) noexcept {
        if (tensor.role == role::gradient && tensor.partner != no_tensor) {
            return stats_mask::sum_squares | stats_mask::nonfinite;
        }
        stats_mask const of_weights = stats_mask::sum_squares | stats_mask::range;
        return select::weights(tensor)      ? stats_mask::change | of_weights
               : select::parameters(tensor) ? stats_mask::change
                                            : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        if (tensor.role == role::gradient) {
            shown_gradient* const mine = gradients_.declare(tensor);
            if (mine != nullptr) { *mine = {tensor.shape.elements(), tensor.partner != no_tensor}; }
            return mine != nullptr;
        }
        return !select::weights(tensor) || all_.declare(tensor) != nullptr;
    }
    constexpr void observe(observation const& it) noexcept {
        if (it.tensor.role == role::gradient) { return see_gradient(it); }
        if (it.step.mode == mode::train && is_bias(it.tensor)) { return see_bias(it); }
        weight* const mine = all_.find(it.tensor.id);
        if (mine == nullptr || it.step.mode != mode::train || !select::weights(it.tensor)) { return; }
        double const size = it.stats.nonfinite() == 0 ? square_root(it.stats.sum_squares) : mine->size;
        mine->twice = mine->twice || (mine->seen && mine->last_at == it.step && size != mine->size);
        mine->last_at = it.step, shown_now_ = true;
        see_growth(*mine, it);
        if (!std::exchange(mine->seen, true)) { meet(*mine, it, size); }
        mine->size = size;
        measurement const ratio = update_ratio_of(it);
        if (!ratio.known && !is_zero_still(it)) { return; }
        mine->latest = ratio.value;
        if (ratio.value > mine->rests_below()) { return note_move(*mine, ratio.value, it); }
        ++mine->rests, ++mine->resting, ++all_rests_;
    }

    // A close: call it before the next step's tensors.
    constexpr void close() noexcept {
        if (std::exchange(moved_now_, false)) {
            longest_still_ = still_ > longest_still_ ? still_ : longest_still_;
            still_ = 0;
        } else if (shown_now_) {
            ++still_;
        }
        bool const pulls = std::exchange(any_pulls_now_, false);
        if (std::exchange(gradient_now_, false)) { without_pull_ = pulls ? 0 : without_pull_ + 1; }
        if (pull_now_ > 0) { (void)pulls_.add(std::exchange(pull_now_, 0)); }
        closes_ += std::exchange(shown_now_, false) ? 1U : 0U;
    }
    // Closes of steps that showed a weight.
    [[nodiscard]] constexpr std::uint64_t closes() const noexcept { return closes_; }
    // The run is on a plateau near small initial weights (Saxe et al. 2014), of several layers: at first a step as long
    // as the weights would have changed the loss by less than a tenth, by the gradients, and gradients have grown
    // since.
    [[nodiscard]] SPOTTER_STRICT constexpr bool leave_a_plateau(double loss) const noexcept {
        SPOTTER_STRICT_BODY
        double const before = middle_of(pulls_.first_third());
        return are_several() && before < 0.1 * loss && middle_of(pulls_.last_third()) > before;
    }
    // More than one weight was seen. A single one may be a table, such as the places of points.
    [[nodiscard]] constexpr bool are_several() const noexcept {
        std::uint64_t count = 0;
        each([&](std::string_view, weight const&) { ++count; });
        return count > 1;
    }

    // Weights have moved, and none has for a hundred closes that showed some, and for three times as many as ever
    // before: several steps may make an update.
    [[nodiscard]] constexpr bool came_to_rest() const noexcept {
        return all_moves_ > 0 && still_ >= 100 && still_ > 3 * longest_still_;
    }
    // When last seen, half of the weights or more did not move, or all moved by next to nothing.
    [[nodiscard]] constexpr bool most_rest() const noexcept {
        std::uint64_t all = 0, rest = 0, fade = 0;
        each([&](std::string_view, weight const& it) {
            ++all, rest += it.resting > 0 ? 1U : 0U, fade += it.latest < next_to_nothing ? 1U : 0U;
        });
        return 2 * rest >= all || fade == all;
    }

    // Biases have moved by more than next to nothing beside the weights, and these have gradients: the rate is not why
    // they rest.
    [[nodiscard]] constexpr bool biases_move() const noexcept {
        bool const is_far = biases_moved_ > 0 && !any([this](std::string_view, weight const& it) {
                                return biases_moved_ < little * square_root(it.mean_square());
                            });
        return is_far && any([](std::string_view, weight const& it) { return it.pulled; });
    }

    // Whether all weights should be checked at this close: one is new, or its first updates are over; or none has moved
    // by much yet.
    [[nodiscard]] constexpr bool may_be_wrong() noexcept { return std::exchange(is_new_, false) || !any_moves_; }

    // Fewer than half of the observations show an update: several steps make one.
    [[nodiscard]] constexpr bool rests_mostly() const noexcept { return all_rests_ > all_moves_; }

    // Calls `use(name)` for each gradient that is of no shown tensor, and as large as a weight without a gradient.
    template <class Use>
    constexpr void each_gradient_of_nothing(Use&& use) const noexcept {
        gradients_.each_named([&](std::string_view name, shown_gradient const& it) {
            if (it.has_partner || it.elements < 2) { return; }
            auto const is_alike = [&](std::string_view, weight const& of) {
                return !of.has_gradient && of.elements == it.elements;
            };
            if (any(is_alike)) { use(name); }
        });
    }
    // Calls `use(name, weight)` for each weight that was seen.
    template <class Use>
    constexpr void each(Use&& use) const noexcept {
        all_.each_named([&](std::string_view name, weight const& it) {
            if (it.seen) { use(name, it); }
        });
    }

    // `is_so(name, weight)` holds for a weight that was seen.
    template <class Ask>
    [[nodiscard]] constexpr bool any(Ask&& is_so) const noexcept {
        bool found = false;
        each([&](std::string_view name, weight const& it) { found = found || is_so(name, it); });
        return found;
    }

    // A weight of that name was seen.
    [[nodiscard]] constexpr bool has_weight(std::string_view name) const noexcept {
        return any([&](std::string_view seen, weight const&) { return seen == name; });
    }
    // A recent update was at least `times` its weight.
    [[nodiscard]] constexpr bool leaps(double times) const noexcept {
        return any([&](std::string_view, weight const& it) { return it.peak >= times; });
    }
    // One of the first updates was at least `times` its weight, for a weight that did not begin small.
    [[nodiscard]] constexpr bool leapt(double times) const noexcept {
        return any([&](std::string_view, weight const& it) { return it.counted_early() >= times; });
    }

    // Weights have moved, none by `least` of itself in its first updates, and gradients, where they are shown, have not
    // grown threefold: no update has thrown the loss up.
    [[nodiscard]] SPOTTER_STRICT constexpr bool begins_with_small_steps(double least) const noexcept {
        SPOTTER_STRICT_BODY
        bool const moved = any([](std::string_view, weight const& it) { return it.early > 0; });
        bool const moved_far = any([&](std::string_view, weight const& it) { return it.early >= least; });
        bool const has_grown = pulls_.third() > 0 && middle_of(pulls_.last_third()) > 3 * pulls_.blocks()[0];
        return moved && !moved_far && !has_grown;
    }

    // The most by which a step as long as a weight would have changed the loss. Unknown where no gradient was seen, or
    // every weight is zero.
    [[nodiscard]] constexpr measurement strongest_pull() const noexcept {
        measurement most;
        each([&](std::string_view, weight const& it) {
            most.known = most.known || (it.pulled && it.size > 0);
            most.value = it.pull > most.value ? it.pull : most.value;
        });
        return most;
    }

    // All weights were zero at first.
    [[nodiscard]] constexpr bool began_at_zero() const noexcept {
        return closes_ > 0 && !any([](std::string_view, weight const& it) { return it.first_size != 0; });
    }

    // The most by which all updates so far would have changed the loss, to first order: the sum of gradient norm times
    // length of the update (Cauchy-Schwarz). Unknown where some weight has no gradient.
    [[nodiscard]] constexpr measurement reach() const noexcept {
        double sum = 0;
        each([&](std::string_view, weight const& it) { sum += it.reach; });
        return {sum, any([](std::string_view, weight const& it) { return it.has_gradient; }) &&
                         !any([](std::string_view, weight const& it) { return !it.has_gradient; })};
    }

    // Closes in a row in which all gradients were zero, if no weight moves by much but by a decay: else they were not
    // shown at the right instant.
    [[nodiscard]] constexpr std::uint64_t closes_without_pull() const noexcept {
        bool const moves = without_pull_ > 0 &&
                           any([](std::string_view, weight const& it) { return it.latest >= little && !it.shrinks; });
        return moves ? 0 : without_pull_;
    }
    // Gradients were seen, and all are zero, or all of the latest: the learning rate is not why weights do not move.
    [[nodiscard]] constexpr bool nothing_pulls() const noexcept { return all_are_zero(&weight::pulled); }
    [[nodiscard]] constexpr bool nothing_pulls_now() const noexcept { return all_are_zero(&weight::pulls); }

private:
    [[nodiscard]] constexpr bool all_are_zero(bool weight::* pulling) const noexcept {
        return any([](std::string_view, weight const& it) { return it.has_gradient; }) &&
               !any([&](std::string_view, weight const& it) { return it.*pulling; });
    }
    [[nodiscard]] static constexpr bool is_bias(tensor_info const& tensor) noexcept {
        return select::parameters(tensor) && !select::weights(tensor);
    }
    SPOTTER_STRICT constexpr void see_bias(observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        if (!update_ratio_of(it).known || it.stats.finite() == 0) { return; }
        biases_moved_ += square_root(it.stats.delta_sum_squares / static_cast<double>(it.stats.finite()));
    }
    // The first observation of a weight, of this l2 norm.
    constexpr void meet(weight& mine, observation const& it, double size) noexcept {
        mine.elements = it.stats.count, mine.met_at = it.step, mine.first_size = size;
        mine.scale = scale_of(it), is_new_ = true;
        mine.from_the_start = it.tensor.instant == instant::before_update;
        mine.one_value = it.stats.finite() > 1 && minimum(it.stats).value == maximum(it.stats).value;
        mine.is_peaked = is_peaked(it);
    }
    // One element is seven times the root mean square: of 65536 normal numbers the largest is about 4.5 times.
    [[nodiscard]] SPOTTER_STRICT static constexpr bool is_peaked(observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        double const low = magnitude(minimum(it.stats).value), high = magnitude(maximum(it.stats).value);
        double const top = low > high ? low : high;
        return it.stats.nonfinite() == 0 && it.stats.finite() > 0 && top * top > 49 * mean_square_of(it);
    }
    // The first update of a table of values, each by itself: it changes a few, and most were zero before, or it has one
    // column. Values are filled in as they are met, in units of their own, so their size says nothing of a rate.
    [[nodiscard]] static constexpr bool is_table_of_values(weight const& mine, observation const& it) noexcept {
        bool const is_column = it.tensor.shape.size[0] == it.stats.count;
        return mine.scale > 0 && 4 * it.stats.changed < it.stats.count && (mine.is_peaked || is_column);
    }
    // Of the finite elements of a weight that has others, too. A weight that was not seen before an update counts as
    // one of the usual scale, 1.
    SPOTTER_STRICT static constexpr void see_growth(weight& mine, observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        if (it.stats.nonfinite() == 0 || it.stats.finite() == 0 || mine.growth != 0) { return; }
        double const before = mine.seen ? mine.size / square_root(static_cast<double>(it.stats.count)) : 1;
        bool const is_updated = mine.seen || it.tensor.instant == instant::after_update;
        if (!is_updated || !(before > 0)) { return; }
        mine.growth = (mine.seen ? square_root(mean_square_of(it)) : scale_of_finite(it)) / before;
        mine.growth_at = it.step;
    }
    // `ratio`: of a step, where several lie between this observation and the one before.
    SPOTTER_STRICT constexpr void note_move(weight& mine, double ratio, observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        step_id const at = it.step;
        double const steps = static_cast<double>(at.index - it.stats.previous_index);
        ++mine.moves, ++all_moves_, mine.resting = 0, moved_now_ = true;
        if (mine.moves == 1 && is_table_of_values(mine, it)) { mine.scale = begun; }
        mine.steps += steps;
        mine.path += rounded_product(ratio < 1 ? ratio : 1, steps);
        double const length = square_root(it.stats.delta_sum_squares);
        mine.travelled += length, mine.longest = length > mine.longest ? length : mine.longest;
        mine.reach += rounded_product(length, mine.gradient);
        double const before = square_root(it.stats.previous_sum_squares);
        if (mine.moves == 1) { mine.departs_at = before; }
        mine.shrinks = before - mine.size >= 0.99 * length;
        // A step of more than ten times a weight is nearly all of its next size, whatever its direction.
        bool const is_far = length >= large_step * before && length <= 10 * before;
        bool const is_outwards = is_far && mine.size - before >= 0.95 * length;
        mine.straight_leaps = is_outwards ? mine.straight_leaps + 1 : 0;
        fade(mine);
        if (mine.moves <= first_updates && ratio > mine.early) { mine.early = ratio, mine.early_at = at; }
        if (mine.moves > first_updates && ratio >= leap && mine.leapt_to == 0) {
            mine.leapt_from = it.stats.previous_index, mine.leapt_to = at.index;
        }
        is_new_ = is_new_ || mine.moves == first_updates;
        // Growth from zero alone may take steps of 1 / sqrt(moves) of the weight.
        bool const is_growth = mine.first_size == 0 && mine.moves < 100;
        if (ratio > mine.peak && !is_growth) { mine.peak = ratio, mine.peak_at = at; }
        if (ratio > mine.highest) { mine.highest = ratio, mine.highest_at = at, mine.highest_move = mine.moves; }
        any_moves_ = any_moves_ || mine.path >= far_enough;
    }
    constexpr void see_gradient(observation const& it) noexcept {
        weight* const of = all_.find(it.tensor.partner);
        if (of == nullptr || it.step.mode != mode::train) { return; }
        of->has_gradient = gradient_now_ = true;
        of->pulls = it.stats.sum_squares > 0 || it.stats.nonfinite() > 0;
        of->pulled = of->pulled || of->pulls;
        any_pulls_now_ = any_pulls_now_ || of->pulls;
        double const norm = square_root(it.stats.sum_squares);
        if (is_finite(norm)) { see_jump(*of, norm, it.step); }
        see_pull(*of, norm);
    }
    // After twenty updates, so that the largest before is that of several batches.
    SPOTTER_STRICT static constexpr void see_jump(weight& of, double norm, step_id at) noexcept {
        SPOTTER_STRICT_BODY
        double const before = of.largest_gradient;
        bool const jumps = of.moves >= 20 && before > 0 && norm > rounded_product(far_above, before);
        if (jumps && of.jump == 0) { of.jump = norm / before, of.jumped_at = at; }
        of.largest_gradient = norm > before ? norm : before;
    }
    SPOTTER_STRICT constexpr void see_pull(weight& of, double gradient) noexcept {
        SPOTTER_STRICT_BODY
        double const pull = rounded_product(gradient, of.size);
        of.gradient = is_finite(gradient) ? gradient : 0;
        of.pull = pull > of.pull ? pull : of.pull;
        of.latest_pull = pull;
        if (is_finite(pull)) { pull_now_ += pull; }
    }
    // The weight was all zero, and still is: it has no update ratio.
    [[nodiscard]] static constexpr bool is_zero_still(observation const& it) noexcept {
        summary const& now = it.stats;
        bool const later = has(now.has, stats_mask::change) && now.has_previous && it.step.index > now.previous_index;
        return later && now.previous_sum_squares == 0 && now.delta_sum_squares == 0;
    }
    SPOTTER_STRICT static constexpr void fade(weight& it) noexcept {
        SPOTTER_STRICT_BODY
        it.peak *= 0.98;
    }
    // A weight that has overflowed does not show how it began.
    [[nodiscard]] SPOTTER_STRICT static constexpr double scale_of(observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        return it.stats.nonfinite() == 0 ? scale_of_finite(it) : 0;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double mean_square_of(observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        return it.stats.sum_squares / static_cast<double>(it.stats.finite());
    }
    // The fan-in of a convolution is the product of all extents but the first. A matrix does not say which of its axes
    // is the fan-in, so the geometric mean of both is used.
    [[nodiscard]] SPOTTER_STRICT static constexpr double scale_of_finite(observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        extents const& shape = it.tensor.shape;
        if (it.stats.finite() == 0 || shape.rank < 2 || shape.size[0] == 0) { return 0; }
        double const all = static_cast<double>(it.stats.count);
        double const rows = static_cast<double>(shape.size[0]);
        double const columns = all / rows;
        double const fan_in = shape.rank > 2 ? columns : square_root(rows * columns);
        return square_root(mean_square_of(it) * fan_in);
    }

    struct shown_gradient {
        std::uint64_t elements = 0;
        bool has_partner = false;  // what it is the gradient of is shown, too
    };

    per_tensor<weight> all_;
    per_tensor<shown_gradient> gradients_;
    std::uint64_t all_moves_ = 0, all_rests_ = 0;
    double biases_moved_ = 0;  // the sum of the root mean squares of their changes
    std::uint64_t closes_ = 0;
    std::uint64_t without_pull_ = 0;               // closes in a row: every gradient is zero
    std::uint64_t still_ = 0, longest_still_ = 0;  // likewise: no weight moved; and the most so far
    bool is_new_ = false, any_moves_ = false;
    bool shown_now_ = false, moved_now_ = false, gradient_now_ = false, any_pulls_now_ = false;  // at this step
    double pull_now_ = 0;  // of this step: the sum over weights of norm times gradient norm
    block_series pulls_;   // of all steps
};

}  // namespace spotter::inline SPOTTER_ABI::detail
