// SPDX-License-Identifier: Apache-2.0
// The bodies of cures.hpp.
#pragma once

#include <spotter/act/cures.hpp>
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
    auto const rank = static_cast<std::size_t>(quantile * static_cast<double>(count - 1));
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
