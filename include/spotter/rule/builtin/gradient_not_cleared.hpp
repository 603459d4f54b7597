// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): gradients that pile up from step to step. docs/rules.md#gradient_not_cleared
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/series.hpp>

namespace spotter::inline SPOTTER_ABI {

// A gradient piles up where, over its last `window` changes from one step to the next, each kept the direction (its cosine is above
// `cosine`), the norm rose in at least `rising` of them, it has at least doubled, and it slows down relative to what is there, or it is
// a net that runs away: the square of the norm amid the window is above 1.1 times the product of those at its ends. Warning when more
// than half of the gradients that are judged at a step do: one that grows alone is early learning. A change from or to a gradient that
// is not finite, or all zero, is undefined and left out; a rewind begins the window anew. A gradient of one element has no direction to
// keep, but a sign, and is not watched. Keeps a copy of each gradient. Train steps only.
struct gradient_not_cleared {
    using kind = rule_kind;
    static constexpr std::string_view name = "gradient_not_cleared";
    static constexpr std::string_view remedy = "Clear gradients before each backward pass.";
    static constexpr mode judged_in = mode::train;

    selector select = role::gradient;
    double cosine = 0.9;        // of the angle between a gradient and the one before
    double rising = 0.8;        // fraction of the changes
    std::uint64_t window = 10;  // changes; two at least

    struct kept {
        recent_values before;       // the norm before each change
        recent_values rose;         // 1 where the norm rose
        std::uint64_t aligned = 0;  // changes in a row that kept the direction
    };
    static constexpr bool by_majority = true;
    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        bool const has_direction = tensor.shape.elements() > 1;
        return select(tensor) && has_direction ? terms::change | terms::sum_squares : terms::none;
    }
    [[nodiscard]] constexpr bool prepare(kept& mine, tensor_info const&) const noexcept {
        return mine.before.keep(window) && mine.rose.keep(window);
    }
    [[nodiscard]] constexpr judged_value judge(kept& mine, observation const& it) const noexcept {
        summary const& now = it.stats;
        if (!now.has_previous) { return {}; }
        if (it.step.index < now.previous_index) {
            mine.before.clear(), mine.rose.clear();
            mine.aligned = 0;
        }
        if (it.step.index <= now.previous_index) { return {}; }  // within a step gradients may well pile up
        measurement const direction = cosine_of(now);
        if (!direction.known) { return {}; }
        mine.aligned = direction.value > cosine ? mine.aligned + 1 : 0;
        mine.before.add(square_root(now.previous_sum_squares));
        mine.rose.add(now.sum_squares > now.previous_sum_squares ? 1 : 0);
        if (!mine.before.full()) { return {}; }
        double const growth = growth_of(now, mine.before[0]);
        return {growth, mine.aligned >= mine.before.size() && mine.rose.mean_of(0, mine.rose.size()) >= rising &&
                            growth >= 2 && slows_down(now, mine.before)};
    }
    [[nodiscard]] constexpr finding tell(culprit const& who) const noexcept {
        finding it = who.as_finding("gradients pile up", "growth of the norm", relation::greater_equal, 2);
        it.detail << "over " << window << " steps in the same direction";
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached: fewer than `window` changes of a gradient";
    }

private:
    [[nodiscard]] SPOTTER_STRICT static constexpr double growth_of(summary const& now, double before) noexcept {
        SPOTTER_STRICT_BODY
        return square_root(now.sum_squares) / before;
    }
    // What piles up grows by as much each time, so ever more slowly relative to what is there: its norm amid the window is above the
    // geometric mean of those at its ends, its square 1.1 times above. A net that runs away grows by a factor each time.
    [[nodiscard]] SPOTTER_STRICT static constexpr bool slows_down(summary const& now,
                                                                  recent_values const& before) noexcept {
        SPOTTER_STRICT_BODY
        double const amid = before[before.size() / 2];
        return amid * amid > 1.1 * before[0] * square_root(now.sum_squares);
    }
    // Of the angle between a gradient and the one before; unknown where either is all zero.
    [[nodiscard]] SPOTTER_STRICT static constexpr measurement cosine_of(summary const& now) noexcept {
        SPOTTER_STRICT_BODY
        double const sizes = square_root(now.sum_squares) * square_root(now.previous_sum_squares);
        if (!(sizes > 0) || !is_finite(sizes) || !is_finite(now.dot)) { return {}; }
        return {now.dot / sizes, true};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
