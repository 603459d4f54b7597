// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): gradients that accumulate from step to step. docs/rules.md#gradient_not_cleared
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/builtin/sampled_values.hpp>
#include <spotter/rule/series.hpp>

namespace spotter::inline SPOTTER_ABI {

// Judges how a gradient changes from step to step, on a sample of its elements (sampled_values.hpp). Let G be a
// gradient and D = G_t - G_(t-1). If each gradient is computed anew, its noise enters two changes with opposite signs:
// <D_t, D_(t-1)> is about -|D|^2 / 2, and changes are as large as gradients. If gradients accumulate, D is the gradient
// of that step alone: small compared with G, and as similar to the change before as one gradient is to the next. Two
// signs, each for one gradient, and one for a gradient among others:
//   noisy      `lasting` changes in a row meet all of these. The means decay by a twentieth at each change; they start
//              at half of `warmup`, when momentum has filled its buffer.
//              - The mean of |G|^2 is at least `inertia` times that of |D|^2.
//              - The cosine c of D and the D before it is at least 0.1. The cosine of D and the D two before is above
//                c - 0.2, and above the middle of c and 2c^2 - 1: a noisy signal keeps c, a smooth curve has 2c^2 - 1.
//              - The mean |c| is at most 0.95: a gradient without noise goes straight on or back.
//              - The sum of <D, G_(t-1)> is above 0, the decaying one or that of all changes: a sum of gradients
//                begins as one gradient and grows. Parallel gradients, or those of a saturated unit, shrink as the
//                loss falls.
//   straight   Over the last `window` changes the direction was kept (cosine above `cosine`). The norm rose in `rising`
//              of them and in the last, and has at least doubled: a sum of equal gradients does so in its first two
//              windows, so not after three. Growth slows down: the squared norm in the middle of
//              the window is above 1.1 times the product of the norms at its ends. Yet the second half grew by at least
//              three quarters of the first. (A diverging net does not slow down; momentum that fills a buffer stops.)
//   alone      `lasting_alone` changes in a row met all of these, and half of all gradients of the step before were
//              computed anew: their mean |G|^2 is below `fresh` times that of |D|^2.
//              - The mean of |G|^2 is at least twice `inertia` times that of |D|^2, and ten times that of the first
//                gradient. (A sum in a loop that it controls swings about zero: its changes need not be alike.)
//              - The third condition of `noisy`. And c is above -0.25: a sum has 0 or more, noise has -1/2.
//              Momentum of 0.9 in one buffer with a signal below its noise, as `fresh` says, stays below 100.
// Warning when more than half of the gradients that are judged at a step show one of the first two signs: a single one
// is early learning. The third needs no others.
// Each gradient counts once a step, at its first observation. Gradients that are not finite or all zero are skipped; a
// rewind starts anew. A gradient of one element has no direction and is not watched. Keeps 64 elements of three steps.
// Train steps only. Where it says no it testifies, to a diagnosis, whether most gradients change little: |G|^2
// is 30 times |D|^2, both as sums that decay by a tenth at each change, from the `window`-th change on. What
// overshoots changes much.
struct gradient_not_cleared {
    using kind = rule_kind;
    static constexpr std::string_view name = "gradient_not_cleared";
    static constexpr std::string_view remedy = "Clear gradients before each backward pass.";
    static constexpr mode judged_in = mode::train;
    static constexpr bool extracts_from_memory = true;
    // By the noise of gradients (the first and the third sign); by their growth (the second).
    // Testimony, which is no finding: most gradients change little from step to step, or not.
    enum condition : std::uint8_t { holds_those_before = 1, piles_up, change_little, change_much };

    selector select = role::gradient;
    double inertia = 50;        // squared norm over squared change; momentum in the buffer reaches 30 (bench/diagnosis)
    std::uint64_t warmup = 40;  // changes before the first sign is judged
    std::uint64_t lasting = 10;         // changes
    std::uint64_t lasting_alone = 100;  // changes, of a gradient among others that are computed anew
    double fresh = 1;                   // squared norm over squared change; a gradient below is computed anew
    double cosine = 0.9;                // of the angle between a gradient and the previous one
    double rising = 0.8;                // fraction of the changes
    std::uint64_t window = 10;          // changes; at least two

    // The state of one gradient.
    struct kept {
        slot_array<sampled_values> before;                      // the gradient, its change, and the change before
        std::uint64_t have = 0;                                 // how many of those are known
        std::uint64_t last_index = 0, judged_index = 0;         // indices of steps
        recent_values norms;                                    // before each change
        recent_values rose;                                     // 1 where the norm rose
        double size = 0, change = 0, next = 0, after_next = 0;  // decaying sums: |G|^2, |D|^2, <D, D'>, <D, D''>
        double change_before = 0, change_twice_before = 0;      // decaying sums: |D'|^2, |D''|^2
        double straight = 0, turns = 0;                         // decaying sums: |c| and its weight
        double along = 0, along_ever = 0;                       // <D, G'>: a decaying sum, and the sum of all
        double last_change = 0, last_but_one = 0;               // |D|^2 of the latest two changes
        double before_size = 0, first_size = 0;                 // |G|^2 of the step before; of the first step
        double late_size = 0, late_change = 0;                  // sums that decay by a tenth: |G|^2, |D|^2
        // Changes; and those in a row that meet the conditions of each sign.
        std::uint64_t changes = 0, aligned = 0, noisy = 0, held = 0;
    };
    struct judged : judged_value {  // which of the signs holds
        bool straight = false;      // the second; `measured` is then the growth of the norm
        bool alone = false;         // the third

        // The third sign is reported before the others, and needs no majority.
        [[nodiscard]] constexpr bool outranks(judged const& other) const noexcept { return alone && !other.alone; }
        [[nodiscard]] constexpr bool needs_majority() const noexcept { return !alone; }  // of the gradients
    };
    // How many gradients were computed anew, at this step and at the one before.
    struct scratch {
        struct tally {                           // of one step
            std::uint32_t judged = 0, anew = 0;  // gradients; those of them that are computed anew
            std::uint32_t seen = 0, little = 0;  // gradients; those of them that change little

            // Half of them or more are computed anew.
            [[nodiscard]] constexpr bool half() const noexcept { return judged > 0 && 2 * anew >= judged; }
        };
        tally now{}, before{};            // of this step, of the one before
        std::uint64_t index = 0;          // of the step
        std::string_view first_little{};  // the latest that was the first of its step to change little
        condition testified = change_much;
        std::uint64_t since_little = 0;  // closes in a row in which most gradients changed much

        constexpr void begin(std::uint64_t step) noexcept {
            if (step != std::exchange(index, step)) { before = std::exchange(now, {}); }
        }
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        bool const has_direction = tensor.shape.elements() > (is_complex(tensor.type) ? 0 : 1);
        bool const gathered = has(tensor.flags, flag::gathered);
        return select(tensor) && has_direction && !gathered ? stats_mask::feature | stats_mask::nonfinite
                                                            : stats_mask::none;
    }
    [[nodiscard]] constexpr bool prepare(kept& mine, tensor_info const&) const noexcept {
        return mine.before.grow(3) && mine.norms.keep(window) && mine.rose.keep(window);
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of(name); }
    // Pushes |G|^2, |D|^2, <D, D'>, <D, D''>. |D|^2 is -1 where the step before is unknown; a product is 0 where its
    // change is unknown.
    constexpr void extract(kept& mine, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        if (mine.have > 0 && it.step.index == mine.last_index) { return; }  // within a step gradients may accumulate
        if (it.step.index < mine.last_index) { mine.have = 0; }
        mine.last_index = it.step.index;
        if (it.stats.nonfinite() > 0) {
            mine.have = 0;
            return;
        }
        sampled_values const now = sampled_values::of(values);
        double const size = dot(now, now);
        if (!(size > 0) || !is_finite(size)) { return; }
        sampled_values const change = now - mine.before[0];
        out.push(size);
        out.push(mine.have > 0 ? dot(change, change) : -1);
        out.push(mine.have > 1 ? dot(change, mine.before[1]) : 0);
        out.push(mine.have > 2 ? dot(change, mine.before[2]) : 0);
        mine.before[2] = mine.before[1];
        mine.before[1] = change;
        mine.before[0] = now;
        mine.have = mine.have < 3 ? mine.have + 1 : 3;
    }
    [[nodiscard]] constexpr judged judge(kept& mine, scratch& all, observation const& it,
                                         std::span<double const> made) const noexcept {
        if (made.size() != 4) { return {}; }
        if (it.step.index < mine.judged_index) { begin_anew(mine); }
        mine.judged_index = it.step.index;
        if (mine.first_size == 0) { mine.first_size = made[0]; }
        if (made[1] < 0) {
            mine.before_size = made[0];
            return {};
        }
        mine.noisy = is_noisy(mine, made) ? mine.noisy + 1 : 0;
        double growth = 0;
        bool const straight = is_straight(mine, made, growth);
        mine.before_size = made[0];
        count_kinds(mine, all, it, made);
        bool const lasts = mine.noisy > 0 && mine.noisy >= lasting;
        bool const alone = mine.held >= lasting_alone && all.before.half();
        if (!mine.norms.full() && !lasts) { return {}; }
        judged answer{{straight ? growth : inertia_of(mine), straight || lasts || alone}};
        answer.straight = straight, answer.alone = alone;
        return answer;
    }
    [[nodiscard]] constexpr finding tell(violation const& who, judged const& first) const noexcept {
        finding it =
            first.straight && !first.alone
                ? who.as_finding({"gradients pile up", piles_up}, "growth of the norm", relation::greater_equal, 2)
                : who.as_finding({"each gradient holds those before it", holds_those_before},
                                 "squared norm over squared change", relation::greater_equal,
                                 first.alone ? 2 * inertia : inertia);
        if (first.straight && !first.alone) { it.detail << "over " << window << " steps in the same direction"; }
        return it;
    }
    // Pushes what most gradients do, where that has changed.
    constexpr void testify(scratch& all, findings& out) const noexcept {
        if (all.now.seen == 0) { return; }
        condition const now = 2 * all.now.little > all.now.seen ? change_little : change_much;
        all.since_little = now == change_little ? 0 : all.since_little + 1;
        if (now == change_much && all.since_little < 2 * window) { return; }  // a sum that explodes changes much, too
        if (std::exchange(all.testified, now) == now) { return; }
        violation const who{all.first_little, static_cast<double>(all.now.little), all.now.little};
        bool const little = now == change_little;
        out.push(who.as_finding(
            {little ? "most gradients change little from step to step" : "most gradients change much", now},
            "gradients that change little", little ? relation::greater : relation::less_equal,
            0.5 * static_cast<double>(all.now.seen)));
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached: fewer than `window` changes of a gradient";
    }

private:
    static constexpr void begin_anew(kept& mine) noexcept {
        mine.norms.clear(), mine.rose.clear();
        mine.size = mine.change = mine.next = mine.after_next = 0;
        mine.change_before = mine.change_twice_before = mine.along = mine.along_ever = 0;
        mine.straight = mine.turns = mine.last_change = mine.last_but_one = mine.first_size = 0;
        mine.changes = mine.aligned = mine.noisy = mine.held = 0;
        mine.late_size = mine.late_change = 0;
    }
    // Counts whether this gradient is computed anew, and whether it changes little.
    constexpr void count_kinds(kept& mine, scratch& all, observation const& it,
                               std::span<double const> made) const noexcept {
        all.begin(it.step.index);
        if (mine.changes >= warmup) { ++all.now.judged, all.now.anew += inertia_of(mine) < fresh ? 1 : 0; }
        decay(mine.late_size, 0.9, made[0]), decay(mine.late_change, 0.9, made[1]);
        if (mine.changes >= window) {
            ++all.now.seen;
            if (changes_little(mine) && ++all.now.little == 1) { all.first_little = it.tensor.name; }
        }
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double inertia_of(kept const& mine) noexcept {
        SPOTTER_STRICT_BODY
        return mine.change > 0 ? mine.size / mine.change : 0;
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_noisy(kept& mine, std::span<double const> made) const noexcept {
        SPOTTER_STRICT_BODY
        double const before = std::exchange(mine.last_change, made[1]);
        double const twice_before = std::exchange(mine.last_but_one, before);
        double const along = 0.5 * (made[0] - mine.before_size - made[1]);
        mine.along_ever += along;
        if (2 * ++mine.changes <= warmup) { return false; }
        fade(mine.size, made[0]), fade(mine.change, made[1]);
        fade(mine.change_before, before), fade(mine.change_twice_before, twice_before);
        fade(mine.next, made[2]), fade(mine.after_next, made[3]), fade(mine.along, along);
        double const turn_by = square_root(made[1]) * square_root(before);
        if (turn_by > 0) { fade(mine.straight, magnitude(made[2]) / turn_by), fade(mine.turns, 1); }
        double const one_by = square_root(mine.change) * square_root(mine.change_before);
        double const two_by = square_root(mine.change) * square_root(mine.change_twice_before);
        if (mine.changes < warmup || !(one_by > 0 && two_by > 0)) {
            mine.held = 0;
            return false;
        }
        double const one = mine.next / one_by, two = mine.after_next / two_by;
        bool const keeps_on = two > one - 0.2 && two > 0.5 * (one + 2 * one * one - 1);
        bool const heavy = mine.size >= inertia * mine.change && mine.straight <= 0.95 * mine.turns;
        bool const has_grown = made[0] >= 10 * mine.first_size;
        mine.held = heavy && mine.size >= 2 * inertia * mine.change && has_grown && one > -0.25 ? mine.held + 1 : 0;
        return heavy && one >= 0.1 && keeps_on && (mine.along > 0 || mine.along_ever > 0);
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr bool changes_little(kept const& mine) noexcept {
        SPOTTER_STRICT_BODY
        return mine.late_size > 30 * mine.late_change;
    }
    SPOTTER_STRICT static constexpr void decay(double& total, double by, double added) noexcept {
        SPOTTER_STRICT_BODY
        double kept = by * total;
        force_rounding(kept);
        total = kept + added;
    }
    static constexpr void fade(double& total, double added) noexcept { decay(total, 0.95, added); }
    // What accumulates grows by a constant amount, and so ever more slowly relative to its size: the squared norm in
    // the middle of the window is above 1.1 times the product of those at its ends. A diverging net grows by a constant
    // factor.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_straight(kept& mine, std::span<double const> made,
                                                            double& growth) const noexcept {
        SPOTTER_STRICT_BODY
        double const now = square_root(made[0]), before = square_root(mine.before_size);
        double const along = 0.5 * (made[0] + mine.before_size - made[1]);  // <G_t, G_(t-1)>
        mine.aligned = along > cosine * now * before ? mine.aligned + 1 : 0;
        mine.norms.add(before);
        mine.rose.add(now > before ? 1 : 0);
        if (!mine.norms.full()) { return false; }
        growth = now / mine.norms[0];
        double const amid = mine.norms[mine.norms.size() / 2];
        return mine.changes <= 3 * window && mine.aligned >= mine.norms.size() && now > before &&
               mine.rose.mean_of(0, mine.rose.size()) >= rising && growth >= 2 &&
               amid * amid > 1.1 * mine.norms[0] * now && now - amid >= 0.75 * (amid - mine.norms[0]);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
