// SPDX-License-Identifier: Apache-2.0
// The bodies of diagnosed_pack.hpp.
#pragma once

#include <spotter/diagnosis/diagnosed_pack.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Certain is what no healthy run shows; an outcome is judged by what an outcome is judged by.
[[nodiscard]] inline standing standing_of(finding const& it) noexcept {
    if (it.tells_non_finite || it.tells_origin) { return standing::certain; }
    for (std::string_view const rule :
         {"constant_batch", "identity_activation", "output_mismatch", "stalled_training", "rl_constant_reward"}) {
        if (it.rule == rule) { return standing::certain; }
    }
    if (it.rule == "dead_update_path" && (it.reason != "no_gradient" || it.measured >= 50)) {
        return standing::certain;
    }
    if (is_raw(it)) { return standing::certain; }
    for (std::string_view const rule : {"overfit", "overtraining", "no_better_than_guessing"}) {
        if (it.rule == rule) { return standing::outcome; }
    }
    return standing::symptom;
}

// Where no outcome is known only what is far beyond its limit is an alarm: three times, or nine tenths of all.
[[nodiscard]] SPOTTER_STRICT inline bool is_strong(finding const& it) noexcept {
    SPOTTER_STRICT_BODY
    bool const share = it.threshold > 0.3 && it.threshold < 1 && it.measured <= 1;
    switch (it.how) {
        case relation::greater:
        case relation::greater_equal:
            return share ? it.measured >= 0.9 : it.measured >= 3 * it.threshold;
        case relation::less:
        case relation::less_equal:
            return it.measured <= it.threshold / 3;
        default:
            return true;
    }
}

SPOTTER_BODY diagnosed_pack::diagnosed_pack(bool objective) noexcept : losses_{objective} {
    lacks_memory_ = !said_.reserve();
}
SPOTTER_BODY diagnosed_pack::~diagnosed_pack() {
    for (std::size_t i = 0; i < count_; ++i) { delete machines_[i]; }
}
SPOTTER_BODY void diagnosed_pack::add(hidden_machine* it) noexcept {
    if (it != nullptr && machines_.grow(count_ + 1)) {
        machines_[count_++] = it;
    } else {
        delete it;
        lacks_memory_ = true;
    }
}

SPOTTER_BODY tensor_needs diagnosed_pack::declare(tensor_info const& tensor) {
    tensor_needs joined;
    std::uint64_t watching = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        tensor_needs wanted = machines_[i]->declare(tensor);
        if (!joined.agrees(wanted, tensor)) { wanted.terms = terms::none; }  // units are counted along one axis
        joined.join(wanted);
        watching |= std::uint64_t{any(wanted.terms)} << i;
    }
    if (!losses_.declare(tensor) || !weights_.declare(tensor)) { return tensor_needs::without_memory(); }
    joined.terms |= progress_watch::needs(tensor) | update_sizes::needs(tensor);
    if (!any(joined.terms) && !watching_.holds(tensor.id)) { return joined; }
    if (!watching_.grow(tensor.id + std::size_t{1})) { return tensor_needs::without_memory(); }
    watching_[tensor.id] = watching;
    return joined;
}

SPOTTER_BODY void diagnosed_pack::observe(observation const& it) {
    losses_.observe(it);
    weights_.observe(it);
    for (std::uint64_t left = watching_[it.tensor.id]; left != 0; left &= left - 1) {
        machines_[static_cast<std::size_t>(std::countr_zero(left))]->observe(it);
    }
}

SPOTTER_BODY severity diagnosed_pack::level_of(episode const& it, spotter::progress now) const noexcept {
    if (standing_of(it.latest) != standing::symptom || is_symmetric(it, weights_)) { return it.latest.severity; }
    // Other evidence may explain it: an optimizer that ascends needs as many steps to be seen.
    if (it.rule == "gradient_not_cleared") {
        return close_ >= it.ever_first + 20 ? it.latest.severity : severity::info;
    }
    if (it.latest.severity == severity::info) { return severity::info; }
    switch (now) {
        case progress::improves:
            return severity::info;
        case progress::unknown:
            return !losses_.has_objective() && is_strong(it.latest) ? it.latest.severity : severity::info;
        default:
            return it.latest.severity;
    }
}

SPOTTER_BODY bool diagnosed_pack::explained(episode const& it) const noexcept {
    return cause_at_ != 0 && close_ - cause_at_ < quiet_for && standing_of(it.latest) == standing::symptom;
}

// A value that is no number is where it is, and it comes from what was found, if that is a step too large or an optimizer that ascends.
inline void join_bad_value(finding const& it, finding& cause) noexcept {
    bool const explains = cause.rule == "learning_rate_too_large" || cause.rule == "update_direction" ||
                          cause.rule == "initial_weights_too_large" || cause.rule == "input_not_normalized";
    finding const found = cause;
    cause = it;
    if (!explains) { return; }
    cause.rule = found.rule, cause.reason = found.reason, cause.remedy = found.remedy;
    text<80> why;
    why << found.measure << ' ' << found.measured << " in \"" << found.tensor << '"';
    cause.detail = why;
}

SPOTTER_BODY truth diagnosed_pack::close(step_id step, findings& out) {
    ++close_;
    truth answer = truth::undecided;
    for (std::size_t i = 0; i < count_; ++i) {
        scratch_.clear();
        truth const one = machines_[i]->close(step, scratch_);
        if (one == truth::yes) {
            for (finding const& each : scratch_) { said_.note(i, each, close_); }
        }
        if (decided(one)) {
            said_.decided(i, close_);
            answer = answer == truth::undecided ? truth::no : answer;
        }
    }
    return tell(step, out) ? truth::yes : answer;
}

// What is new at this close: alarms behind the cause that explains them, and notes.
SPOTTER_BODY bool diagnosed_pack::tell(step_id step, findings& out) noexcept {
    spotter::progress const now = losses_.says();
    if (now == progress::improves) { told_ = progress::unknown; }
    bool const ill = now == progress::flat || now == progress::worsens;
    bool const outcome = ill && told_ != now && (told_ == progress::unknown || now == progress::worsens);
    severity level = outcome ? (now == progress::worsens ? severity::error : severity::warning) : severity::info;
    severity held = severity::info;
    bool any_held = false, fresh = outcome, dying = false;
    finding const* bad_value = nullptr;
    for (episode& it : said_) {
        if (it.last != close_) { continue; }
        severity const mine = level_of(it, now);
        held = mine > held ? mine : held;
        any_held = true;
        if (mine >= severity::warning && !it.alarmed && !explained(it)) {
            bool const told_before =
                it.latest.tells_origin && bad_values_at_ != 0 && close_ - bad_values_at_ < episodes::quiet_for;
            if (told_before) {
                it.alarmed = true;
            } else {
                fresh = true;
                level = mine > level ? mine : level;
                dying = dying || it.rule == "all_zero" || it.rule == "dead_update_path" || it.latest.tells_origin;
                if (it.latest.tells_origin) { bad_value = &it.latest; }
            }
        }
        if (it.latest.tells_origin) { bad_values_at_ = close_; }
    }
    finding cause;
    if (!weights_told_ && weights_are_wrong(weights_, cause)) {
        fresh = weights_told_ = true;
        level = level > severity::warning ? level : severity::warning;
    }
    std::size_t const first = out.size();
    if (fresh && name_cause({now, losses_, said_, weights_, close_, dying}, cause)) {
        cause.step = step;
        if (bad_value != nullptr) { join_bad_value(*bad_value, cause); }
        cause.severity = level;
        if (outcome) { told_ = now; }
        cause_at_ = close_;
        out.push(cause);
    }
    for (episode& it : said_) {
        if (it.last != close_) { continue; }
        bool const leads = out.size() > first && it.rule == cause.rule && it.reason == cause.reason;
        bool const certain = standing_of(it.latest) != standing::symptom;
        severity const mine = level_of(it, now);
        bool const alarm = fresh && mine >= severity::warning;
        if (leads || alarm) {
            bool const told = std::exchange(it.alarmed, true);
            it.noted = true;
            if (leads || told) { continue; }
        } else if (std::exchange(it.noted, true)) {
            continue;
        }
        finding one = it.latest;
        one.severity = alarm && certain ? mine : severity::info;
        out.push(one);
    }
    if (any_held && out.size() == first) {
        findings::untold kept;
        kept.set(held);
        out.hold(kept);
    }
    return out.size() > first;
}

SPOTTER_BODY bool diagnosed_pack::due(step_id step) const {
    bool found = false;
    for (std::size_t i = 0; i < count_; ++i) { found = found || machines_[i]->due(step); }
    return found;
}
SPOTTER_BODY void diagnosed_pack::poll(double const& now) {
    for (std::size_t i = 0; i < count_; ++i) { machines_[i]->poll(now); }
}
SPOTTER_BODY void diagnosed_pack::report(taker take, void* context) const {
    for (std::size_t i = 0; i < count_; ++i) { machines_[i]->report(take, context); }
}
SPOTTER_BODY pattern_fault diagnosed_pack::malformed() const noexcept {
    if (lacks_memory_) { return pattern_fault{"(no memory for the rule)"}; }
    for (std::size_t i = 0; i < count_; ++i) {
        if (pattern_fault const bad = machines_[i]->malformed(); !bad.empty()) { return bad; }
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI::detail
