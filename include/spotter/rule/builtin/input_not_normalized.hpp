// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): inputs far from mean 0 and standard deviation 1. docs/rules.md#input_not_normalized
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// Inputs of real numbers. Integers are tokens, classes or pixels that the model scales itself.
[[nodiscard]] constexpr bool real_inputs(tensor_info const& tensor) noexcept {
    return tensor.role == role::input && is_floating(tensor.type) && !is_complex(tensor.type);
}

}  // namespace select

// Pools mean and standard deviation of the whole tensor over observations until it has `samples` samples, then judges
// once. The result holds at every later close with the tensor. Warning when |mean| is above `max_abs_mean` or the
// standard deviation is outside `min_std` to `max_std`. (A spread below `min_std` is usual where few values are not
// zero. An input with no |x| as large as a tenth of it is scaled to nothing: divided by 255 twice.) The defaults are
// wide on purpose and accept [0, 1], [-1, 1] and z-scored data; `strict()` is for z-scored data only. Samples are
// counted along the batch axis. Train steps only.
struct input_not_normalized {
    using kind = rule_kind;
    static constexpr std::string_view name = "input_not_normalized";
    static constexpr std::string_view remedy =
        "Shift and scale the inputs to mean 0 and standard deviation 1 with constants from the training set.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::real_inputs;
    double max_abs_mean = 1.0;   // in the unit of the input
    double min_std = 0.05;       // of the whole tensor, in the same unit
    double max_std = 5.0;        // as above
    std::uint64_t samples = 32;  // pooled before it judges

    // For z-scored data.
    [[nodiscard]] static constexpr input_not_normalized strict() noexcept {
        return {.max_abs_mean = 0.2, .min_std = 0.5, .max_std = 2.0};
    }

    // The result of the one judgement.
    enum outcome : std::uint8_t { unknown, normal, off_centre, too_narrow, too_small, too_wide };
    using condition = outcome;  // a finding has one of the last four
    struct kept {
        std::uint64_t samples = 0, values = 0;
        double mean = 0, moment2 = 0, largest = 0;  // largest |x|
        double measured = 0;
        outcome found = outcome::unknown;
    };
    struct pooled : judged_value {         // over the pooled samples
        outcome found = outcome::unknown;  // once there were enough
        std::uint64_t samples = 0;         // pooled ones
    };
    static constexpr stats_mask watched = needs_of(variance) | stats_mask::abs_range;
    [[nodiscard]] constexpr pooled judge(kept& mine, observation const& it) const noexcept {
        if (mine.found == outcome::unknown) {
            pool(mine, it);
            if (mine.values > 0 && mine.samples >= samples) { decide(mine); }
        }
        if (mine.found == outcome::unknown) { return {}; }
        return {judged_value{mine.measured, mine.found != outcome::normal}, mine.found, mine.samples};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, pooled const& first) const noexcept {
        bool const off = first.found == outcome::off_centre, small = first.found == outcome::too_small;
        bool const narrow = small || first.found == outcome::too_narrow;
        std::string_view const words = off      ? "input is off centre"
                                       : small  ? "input is next to zero"
                                       : narrow ? "input hardly varies"
                                                : "input varies too much";
        finding it =
            who.as_finding({words, first.found}, off ? "|mean|" : "stddev", narrow ? relation::less : relation::greater,
                           off      ? max_abs_mean
                           : narrow ? min_std
                                    : max_std);
        it.detail << "over " << first.samples << " samples";
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached: fewer than `samples` samples";
    }

private:
    // Counted by the size of a sample in the first batch: later batches may be smaller.
    [[nodiscard]] static constexpr std::uint64_t samples_in(observation const& it) noexcept {
        extents const& shape = it.tensor.shape;
        int const asked = batch_axis_of(it.tensor.flags);
        auto const axis = static_cast<std::size_t>(asked < 0 || asked >= shape.rank ? 0 : asked);
        std::uint64_t const batch = shape.rank > 0 ? shape.size[axis] : 1;
        std::uint64_t const of_each = batch > 0 ? shape.elements() / batch : 0;
        return of_each > 0 ? it.stats.count / of_each : 0;
    }
    // Chan, Golub & LeVeque (1983), as in the pass over a tensor.
    SPOTTER_STRICT static constexpr void pool(kept& mine, observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        mine.samples += samples_in(it);
        summary const& now = it.stats;
        std::uint64_t const fresh = now.finite();
        if (!has(now.has, needs_of(variance)) || fresh == 0 || !is_finite(now.sum) || !is_finite(now.moment2)) {
            return;
        }
        double const part = static_cast<double>(fresh) / static_cast<double>(mine.values + fresh);
        double const gap = now.sum / static_cast<double>(fresh) - mine.mean;
        double shift = gap * part;
        double between = gap * shift * static_cast<double>(mine.values);
        force_rounding(shift), force_rounding(between);
        mine.mean += shift;
        mine.moment2 += now.moment2 + between;
        double const largest = has(now.has, stats_mask::abs_range) ? now.abs_maximum : 1e308;  // an older record
        mine.largest = largest > mine.largest ? largest : mine.largest;
        mine.values += fresh;
    }
    SPOTTER_STRICT constexpr void decide(kept& mine) const noexcept {
        SPOTTER_STRICT_BODY
        double const spread = square_root(mine.moment2 / static_cast<double>(mine.values));
        // Where both are violated, the one that exceeds its limit by the larger factor.
        bool const off = magnitude(mine.mean) > max_abs_mean &&
                         (spread <= max_std || magnitude(mine.mean) * max_std >= spread * max_abs_mean);
        mine.measured = off ? magnitude(mine.mean) : spread;
        mine.found = off                            ? outcome::off_centre
                     : mine.largest < 0.1 * min_std ? outcome::too_small
                     : spread < min_std             ? outcome::too_narrow
                     : spread > max_std             ? outcome::too_wide
                                                    : outcome::normal;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
