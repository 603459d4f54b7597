// SPDX-License-Identifier: Apache-2.0
// Act (L6): cures: small values that decide, from measurements of a step, what to do about its update.
#pragma once

#include <spotter/act/heal_gauge.hpp>
#include <spotter/core/pattern.hpp>
#include <spotter/core/text.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI {

// What the loop should do with the current update. The first that is set counts:
struct treatment {
    bool stop = false;     // a rule requests a stop, or the update is not finite, and no cure acts against it
    bool restore = false;  // return to the last good checkpoint, with its optimizer state and step; to the beginning
                           // where there is none
    bool skip = false;     // skip this update
    bool reinitialise = false;  // reinitialise the weights of dead units (heal::each_dead lists them), then update
    double rate = 1;            // multiply the learning rate by this
    double largest_norm = 0;    // scale all gradients together so that their l2 norm is at most this; 0: no clipping
    double loss_scale = 1;  // multiply the next loss by this before the backward pass, and divide its gradients by it
};

// The input of a cure's decision.
struct symptoms {
    step_id step{};                         // the training step that was closed
    step_alarm const& found;                // the findings of rules
    detail::loop_measures const& measured;  // the measurements of the cures' gauge
    treatment const& so_far;                // the result of the cures before it
    bool anew = false;                      // the loop was restored after the previous step
};
// Why a cure acts, for the record.
using cure_reason = text<160>;

// As a limit of steps: no limit.
inline constexpr std::uint64_t always_allowed = ~std::uint64_t{0};

// A cure is a value with
//     static constexpr std::string_view name;
//     std::uint64_t times, until;       how often it may act, and before which step
//     struct state { ... };             default-constructed; reset if the cure has made things worse
//     bool acts(state&, symptoms const&, cure_reason& why) const;
//         whether there is a reason to act at this step
//     void follow(state&, symptoms const&, bool acted, treatment&) const;
//         called at every step: adds what follows from its actions so far
// and optionally
//     static constexpr bool watches_units = true;   it needs to know which units are dead
//     static constexpr bool is_routine = true;      its actions can neither help nor harm; not judged
// It must not throw.

// Skips updates whose gradient or loss is not finite while the weights still are finite, and those that a rule reports
// as a spike. Five in a row are not due to single batches: then the next cures act.
struct skip_batch {
    static constexpr std::string_view name = "skip_batch";
    std::uint64_t times = 20, until = always_allowed;
    std::uint64_t in_a_row = 5;                  // from this many on, it does not act
    glob rules = "{gradient_spike,loss_spike}";  // a warning or an error of these rules is a reason

    struct state {
        std::uint64_t row = 0;
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Returns to the last good checkpoint and lowers the rate by the factor by which updates were too large. It uses the
// first update since the beginning or since the last restore: its largest ratio to a weight, divided by `target`. If
// that is below 2, it uses the largest recent ratio, but at most a factor of 10, since a diverging training amplifies
// itself. If that is below 2 or unknown too, it halves the rate. The rate stays lowered.
struct step_back {
    static constexpr std::string_view name = "step_back";
    std::uint64_t times = 6, until = always_allowed;
    double target = 0.01;  // the ratio of an update to its weights: large, but healthy
    // An error of these rules is a reason; for the first rule a warning is too.
    glob rules = "{learning_rate_too_large,exploding_gradient,exploding_tensor,loss_not_decreasing,loss_spike}";

    struct state {
        double rate = 1;
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Returns to the last checkpoint and lets the rate grow back over `steps` updates: for a rate that is too large only
// for new weights or for new optimizer moments (Goyal et al. 2017). It also warms up after an earlier cure that
// restores.
struct warm_up_again {
    static constexpr std::string_view name = "warm_up_again";
    std::uint64_t times = 3, until = always_allowed;
    std::uint64_t steps = 100;               // updates until the rate is back
    glob rules = "learning_rate_too_large";  // a warning or an error of these rules is a reason

    struct state {
        std::uint64_t done = 0, over = 0;  // updates of the current warm-up; 0 of 0: none
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Once gradients have jumped, clips them for a while at a quantile of their earlier norms (Seetharaman et al. 2020 clip
// at a quantile of all norms).
struct clip_gradients {
    static constexpr std::string_view name = "clip_gradients";
    std::uint64_t times = 20, until = always_allowed;
    double quantile = 0.9;       // of the earlier norms; beyond 0 to 1 the nearest of them
    double jump = 10;            // times that quantile; a larger norm is a reason by itself
    std::uint64_t window = 128;  // norms in memory; judged once a quarter of them are known
    std::uint64_t steps = 200;   // of clipping, from the last reason on
    glob rules = "{gradient_spike,exploding_gradient,loss_spike}";  // a warning or an error of these rules is a reason

    struct state {
        slot_array<double> norms{}, sorted{};
        std::uint64_t seen = 0, left = 0;
        double limit = 0;    // of the current clipping
        double guessed = 0;  // the quantile as of a few norms ago
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;

private:
    [[nodiscard]] double limit_of(state& seen) const noexcept;
};

// Requests to reinitialise the weights of dead units (Sokar et al. 2023: incoming weights as at the beginning, outgoing
// weights zero).
struct reinitialise_units {
    static constexpr std::string_view name = "reinitialise_units";
    static constexpr bool watches_units = true;
    std::uint64_t times = 3, until = always_allowed;
    glob rules = "{dead_relu,dormant_units,all_zero,dead_update_path}";  // a warning or an error of these rules is a
                                                                         // reason

    struct state {};
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Dynamic loss scaling (Micikevicius et al. 2018): a non-finite gradient with a finite loss halves the scale and skips
// the update; `interval` finite gradients in a row double the scale.
struct adjust_loss_scale {
    static constexpr std::string_view name = "adjust_loss_scale";
    static constexpr bool is_routine = true;
    std::uint64_t times = always_allowed, until = always_allowed;
    double start = 65536, smallest = 1, largest = 16777216;  // the initial scale, and its limits
    double growth = 2, backoff = 0.5;  // factors after `interval` finite gradients, and after a non-finite one
    std::uint64_t interval = 2000;     // training steps

    struct state {
        double scale = 0;  // 0: not started
        std::uint64_t fine = 0;
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>

#include <algorithm>
#include <cmath>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The first finding of these rules with at least this severity.
[[nodiscard]] inline finding const* reason_in(step_alarm const& found, glob const& rules, severity least) noexcept {
    for (finding const& each : found) {
        if (each.severity >= least && rules(each.rule)) { return &each; }
    }
    return nullptr;
}
[[nodiscard]] inline finding const* reason_in(step_alarm const& found, rule_id rule, severity least) noexcept {
    for (finding const& each : found) {
        if (each.severity >= least && each.id == rule) { return &each; }
    }
    return nullptr;
}
inline void tell_reason(finding const& it, cure_reason& why) noexcept {
    why << it.rule;
    if (!it.tensor.empty()) { why << " of " << it.tensor.substr(0, 60); }
    if (!it.measure.empty()) { why << ", " << it.measure << ' ' << it.measured; }
}
[[nodiscard]] inline bool reason_by(step_alarm const& found, glob const& rules, cure_reason& why) noexcept {
    finding const* const it = reason_in(found, rules, severity::warning);
    if (it != nullptr) { tell_reason(*it, why); }
    return it != nullptr;
}

}  // namespace detail

SPOTTER_BODY bool skip_batch::acts(state& seen, symptoms const& of, cure_reason& why) const noexcept {
    detail::step_measures const& now = of.measured.now;
    bool const bad = now.bad_gradient || now.bad_loss;
    if (of.anew) { seen.row = 0; }
    if (of.so_far.skip || of.so_far.restore || now.bad_weight || seen.row >= in_a_row) { return false; }
    if (bad) { why << (now.bad_loss ? "the loss is NaN or infinite" : "a gradient is NaN or infinite"); }
    return bad || detail::reason_by(of.found, rules, why);
}
SPOTTER_BODY void skip_batch::follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept {
    what.skip = what.skip || acted;
    bool const bad = of.measured.now.bad_gradient || of.measured.now.bad_loss;
    seen.row = acted || bad ? seen.row + 1 : 0;
}

SPOTTER_STRICT SPOTTER_BODY bool step_back::acts(state& seen, symptoms const& of, cure_reason& why) const noexcept {
    SPOTTER_STRICT_BODY
    if (of.so_far.restore) { return false; }
    detail::step_measures const& now = of.measured.now;
    finding const* it = detail::reason_in(of.found, rules, severity::error);
    if (it == nullptr) { it = detail::reason_in(of.found, rule_id::learning_rate_too_large, severity::warning); }
    bool const spoiled = now.bad_weight || ((now.bad_gradient || now.bad_loss) && !of.so_far.skip);
    if (it == nullptr && !spoiled) { return false; }
    double const first = of.measured.first / target, later = of.measured.peak / target;
    double const excess = first >= 2 && is_finite(first)   ? first
                          : later >= 2 && is_finite(later) ? (std::min)(later, 10.0)
                                                           : 2.0;
    seen.rate /= excess;
    why << "the rate is 1/" << 1 / seen.rate << " of what it was: ";
    if (it != nullptr) {
        detail::tell_reason(*it, why);
    } else {
        why << (now.bad_weight ? "a weight is NaN or infinite" : "gradients stay NaN or infinite")
            << ", largest update ratio " << of.measured.peak;
    }
    return true;
}
SPOTTER_BODY void step_back::follow(state& seen, symptoms const&, bool acted, treatment& what) const noexcept {
    what.restore = what.restore || acted;
    what.rate *= seen.rate;
}

SPOTTER_BODY bool warm_up_again::acts(state&, symptoms const& of, cure_reason& why) const noexcept {
    if (of.so_far.restore) {
        why << "a new beginning";
        return true;
    }
    return detail::reason_by(of.found, rules, why);
}
SPOTTER_BODY void warm_up_again::follow(state& seen, symptoms const&, bool acted, treatment& what) const noexcept {
    if (acted) {
        seen = {0, steps};
        what.restore = true;
    }
    if (what.restore || seen.over == 0) { return; }
    what.rate *= static_cast<double>(seen.done + 1) / static_cast<double>(seen.over + 1);
    seen.done += what.skip ? 0 : 1;
    if (seen.done >= seen.over) { seen = {}; }
}

SPOTTER_STRICT SPOTTER_BODY double clip_gradients::limit_of(state& seen) const noexcept {
    SPOTTER_STRICT_BODY
    auto const count = static_cast<std::size_t>((std::min)(seen.seen, window));
    if (count == 0 || 4 * count < window) { return 0; }
    std::copy_n(seen.norms.begin(), count, seen.sorted.begin());
    double const share = (std::min)((std::max)(0.0, quantile), 1.0);  // 0 of NaN
    auto const rank = static_cast<std::size_t>(share * static_cast<double>(count - 1));
    std::nth_element(seen.sorted.begin(), seen.sorted.begin() + rank, seen.sorted.begin() + count);
    return seen.sorted[rank];
}
SPOTTER_STRICT SPOTTER_BODY bool clip_gradients::acts(state& seen, symptoms const& of,
                                                      cure_reason& why) const noexcept {
    SPOTTER_STRICT_BODY
    measurement const norm = of.measured.now.gradient_norm;
    bool const room =
        seen.norms.grow(static_cast<std::size_t>(window)) && seen.sorted.grow(static_cast<std::size_t>(window));
    if (!room || of.so_far.restore || window == 0) { return false; }
    // While it clips, norms are compared with those before the clipping. The quantile is computed where it may matter,
    // and every 16 norms.
    if (seen.left == 0 && seen.seen % 16 == 0) { seen.guessed = limit_of(seen); }
    bool const may_have_jumped = norm.known && norm.value > 0.5 * jump * seen.guessed;
    if (seen.left == 0 && !may_have_jumped && of.found.empty()) { return false; }
    double const limit = seen.left > 0 ? seen.limit : limit_of(seen);
    bool const jumped = norm.known && limit > 0 && norm.value > jump * limit;
    if (jumped) { why << "their norm is " << norm.value << ", " << norm.value / limit << " times its quantile"; }
    if (limit <= 0 || (!jumped && !detail::reason_by(of.found, rules, why))) { return false; }
    bool const anew = seen.left == 0;
    seen.limit = limit, seen.left = steps;
    why << "; clipped at " << limit;
    return anew;
}
SPOTTER_BODY void clip_gradients::follow(state& seen, symptoms const& of, bool, treatment& what) const noexcept {
    if (what.restore) { seen.left = 0; }
    measurement const norm = of.measured.now.gradient_norm;
    if (seen.left > 0) {
        what.largest_norm = what.largest_norm > 0 ? (std::min)(what.largest_norm, seen.limit) : seen.limit;
        --seen.left;
    } else if (norm.known && norm.value > 0 && seen.norms.holds(static_cast<std::size_t>(window) - 1)) {
        seen.norms[as_size(seen.seen++ % window)] = norm.value;
    }
}

SPOTTER_BODY bool reinitialise_units::acts(state&, symptoms const& of, cure_reason& why) const noexcept {
    return !of.so_far.restore && detail::reason_by(of.found, rules, why);
}
SPOTTER_BODY void reinitialise_units::follow(state&, symptoms const&, bool acted, treatment& what) const noexcept {
    what.reinitialise = what.reinitialise || acted;
}

SPOTTER_BODY bool adjust_loss_scale::acts(state& seen, symptoms const& of, cure_reason& why) const noexcept {
    detail::step_measures const& now = of.measured.now;
    if (seen.scale <= 0) { seen.scale = start; }
    bool const overflowed = now.bad_gradient && !now.bad_loss && !now.bad_weight && seen.scale > smallest;
    double const before = seen.scale;
    seen.fine = now.bad_gradient ? 0 : seen.fine + 1;
    if (overflowed) {
        seen.scale = (std::max)(seen.scale * backoff, smallest);
    } else if (interval > 0 && seen.fine >= interval) {
        seen.scale = (std::min)(seen.scale * growth, largest);
        seen.fine = 0;
    }
    if (seen.scale == before) { return false; }
    why << "the scale is " << seen.scale << ": "
        << (overflowed ? "a gradient is NaN or infinite" : "gradients have been finite for long");
    return true;
}
SPOTTER_BODY void adjust_loss_scale::follow(state& seen, symptoms const& of, bool acted,
                                            treatment& what) const noexcept {
    what.skip = what.skip || (acted && of.measured.now.bad_gradient);
    what.loss_scale *= seen.scale > 0 ? seen.scale : start;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
