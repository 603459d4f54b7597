// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): how large weights began, and how far each update moves them: free of any program's units.
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/update_ratio.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Of each weight matrix: its root mean square times the root of its fan-in when it was first seen (about 1 to 2 where
// layers keep the size of what flows through them: Glorot & Bengio 2010, He et al. 2015), and its update ratios.
class update_sizes {
public:
    static constexpr std::uint64_t first_updates = 5;
    static constexpr double next_to_nothing = 1e-6;  // an update ratio: float32 has 24 bits
    static constexpr double little = 1e-4;           // likewise: what moves by more needs no closer look
    static constexpr double begun = 0.01;            // a scale: what begins below it may well leap

    struct weight {
        double scale = 0;                           // at first sight; 0: not seen, or all zero
        double early = 0;                           // the largest update ratio of the first updates
        double peak = 0;                            // of all; fades by 2 % an update
        double highest = 0;                         // of all
        step_id met_at{}, early_at{}, peak_at{};    // the step that showed it first; these
        std::uint64_t moves = 0, rests = 0;         // observations with and without a change since the one before
        std::uint64_t resting = 0;                  // likewise without, the latest in a row
        bool seen = false, one_value = false;       // had one in all its elements at first sight
        bool has_gradient = false, pulled = false;  // one was seen; it was not zero
        double size = 0, pull = 0;  // the l2 norm at the last sight; the largest of those times that of the gradient

        // Of a weight that did not begin next to zero.
        [[nodiscard]] constexpr double counted_early() const noexcept { return scale > begun ? early : 0; }
    };

    [[nodiscard]] static constexpr terms needs(tensor_info const& tensor) noexcept {
        if (tensor.role == role::gradient && tensor.partner != no_tensor) {
            return terms::sum_squares | terms::nonfinite;
        }
        return select::weights(tensor) ? terms::change | terms::sum_squares | terms::range : terms::none;
    }
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        return !select::weights(tensor) || all_.declare(tensor) != nullptr;
    }
    constexpr void observe(observation const& it) noexcept {
        if (it.tensor.role == role::gradient) { return see_gradient(it); }
        weight* const mine = all_.find(it.tensor.id);
        if (mine == nullptr || it.step.mode != mode::train || !select::weights(it.tensor)) { return; }
        if (!std::exchange(mine->seen, true)) {
            mine->met_at = it.step;
            mine->scale = scale_of(it), is_new_ = true;
            mine->one_value = minimum(it.stats).value == maximum(it.stats).value;
        }
        mine->size = square_root(it.stats.sum_squares);
        measurement const ratio = update_ratio_of(it);
        if (!ratio.known && !is_zero_still(it)) { return; }
        if (!(ratio.value > 0)) {
            ++mine->rests, ++mine->resting, ++all_rests_;
            return;
        }
        ++mine->moves, ++all_moves_, mine->resting = 0;
        fade(*mine);
        if (mine->moves <= first_updates && ratio.value > mine->early) {
            mine->early = ratio.value, mine->early_at = it.step;
        }
        if (ratio.value > mine->peak) { mine->peak = ratio.value, mine->peak_at = it.step; }
        if (ratio.value > mine->highest) { mine->highest = ratio.value; }
        any_moves_ = any_moves_ || ratio.value >= little;
    }

    // Whether it is worth looking at all of them at this close: one is new, or none has moved by much yet.
    [[nodiscard]] constexpr bool may_be_wrong() noexcept { return std::exchange(is_new_, false) || !any_moves_; }

    // Updates come at fewer than half of the observations: a step shows a part of what makes one.
    [[nodiscard]] constexpr bool rests_mostly() const noexcept { return all_rests_ > all_moves_; }

    // Calls `use(name, weight)` for each weight that was seen.
    template <class Use>
    constexpr void each(Use&& use) const noexcept {
        all_.each_named([&](std::string_view name, weight const& it) {
            if (it.seen) { use(name, it); }
        });
    }

    // A recent update was so many times its weight, or more.
    [[nodiscard]] constexpr bool leaps(double times) const noexcept {
        bool any = false;
        each([&](std::string_view, weight const& it) { any = any || it.peak >= times; });
        return any;
    }

    // One of the first updates was so many times its weight, or more, and the weight did not begin next to zero.
    [[nodiscard]] constexpr bool leapt(double times) const noexcept { return count_leaps(times, times).at_first > 0; }
    // How many weights moved by how much of themselves: by `large` in a first update, of those judged that did not
    // begin next to zero, and by ten times as much; lately by `leap`.
    struct leap_counts {
        std::uint64_t judged = 0, at_first = 0, ten_times = 0, seen = 0, lately = 0;
        double largest = 0;  // of the first updates, of any weight
    };
    [[nodiscard]] constexpr leap_counts count_leaps(double large, double leap) const noexcept {
        leap_counts all;
        each([&](std::string_view, weight const& it) {
            ++all.seen;
            all.judged += it.scale > begun ? 1U : 0U;
            all.at_first += it.counted_early() >= large ? 1U : 0U;
            all.ten_times += it.counted_early() >= 10 * large ? 1U : 0U;
            all.lately += it.peak >= leap ? 1U : 0U;
            all.largest = it.early > all.largest ? it.early : all.largest;
        });
        return all;
    }

    // The most that a step as long as a weight would have changed the loss by; unknown where no gradient was seen, or
    // every weight rests at zero.
    [[nodiscard]] constexpr measurement strongest_pull() const noexcept {
        measurement most;
        each([&](std::string_view, weight const& it) {
            most.known = most.known || (it.pulled && it.size > 0);
            most.value = it.pull > most.value ? it.pull : most.value;
        });
        return most;
    }

    // Gradients of weights were seen, all of them zero: it is not the rate that keeps weights where they are.
    [[nodiscard]] constexpr bool nothing_pulls() const noexcept {
        bool any_gradient = false, any_pulled = false;
        each([&](std::string_view, weight const& it) {
            any_gradient = any_gradient || it.has_gradient;
            any_pulled = any_pulled || it.pulled;
        });
        return any_gradient && !any_pulled;
    }

private:
    constexpr void see_gradient(observation const& it) noexcept {
        weight* const of = all_.find(it.tensor.partner);
        if (of == nullptr || it.step.mode != mode::train) { return; }
        of->has_gradient = true;
        of->pulled = of->pulled || it.stats.sum_squares > 0 || it.stats.nonfinite() > 0;
        see_pull(*of, square_root(it.stats.sum_squares));
    }
    SPOTTER_STRICT static constexpr void see_pull(weight& of, double gradient) noexcept {
        SPOTTER_STRICT_BODY
        double const pull = gradient * of.size;
        of.pull = pull > of.pull ? pull : of.pull;
    }
    // It was all zero, and is: a ratio says nothing of that.
    [[nodiscard]] static constexpr bool is_zero_still(observation const& it) noexcept {
        summary const& now = it.stats;
        bool const later = has(now.has, terms::change) && now.has_previous && it.step.index > now.previous_index;
        return later && now.previous_sum_squares == 0 && now.delta_sum_squares == 0;
    }
    SPOTTER_STRICT static constexpr void fade(weight& it) noexcept {
        SPOTTER_STRICT_BODY
        it.peak *= 0.98;
    }
    // The fan-in of a convolution is what is behind its first axis; of a matrix, as nobody says which axis that is, the
    // geometric mean of both stands for it.
    [[nodiscard]] SPOTTER_STRICT static constexpr double scale_of(observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        extents const& shape = it.tensor.shape;
        // What has overflowed before it was seen says nothing of how it began.
        bool const sound = it.stats.finite() > 0 && it.stats.nonfinite() == 0;
        if (!sound || shape.rank < 2 || shape.size[0] == 0) { return 0; }
        double const all = static_cast<double>(it.stats.count);
        double const rows = static_cast<double>(shape.size[0]);
        double const columns = all / rows;
        double const fan_in = shape.rank > 2 ? columns : square_root(rows * columns);
        return square_root(it.stats.sum_squares / static_cast<double>(it.stats.finite()) * fan_in);
    }

    per_tensor<weight> all_;
    std::uint64_t all_moves_ = 0, all_rests_ = 0;
    bool is_new_ = false, any_moves_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
