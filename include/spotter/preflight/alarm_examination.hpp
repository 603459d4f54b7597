// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): an examination on an alarm of a run: does the net, as it is now, have the fault that the alarm names?
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/core/step.hpp>
#include <spotter/preflight/result.hpp>
#include <spotter/rule/experiment.hpp>

#include <concepts>
#include <optional>
#include <span>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Whether a warning or an error among these names what an examination can check: a rate, a sign, clearing, a layer or a
// backward pass.
[[nodiscard]] bool asks_for_experiment(std::span<finding const> found) noexcept;
// The answer of an examination for each such rule. Its texts live in the result.
[[nodiscard]] experiment_answer answer_of(preflight_result const& examined) noexcept;

}  // namespace detail

// An argument of a hook: `watch.examine_with(exam)`. Holds how to examine the net:
//
//     sp::alarm_examination exam{[&] { return sp::preflight(net, pass, step, {.forwards = 200}); }};
//
// The hook calls it at most once in a thousand steps, and only at steps with such an alarm. Must outlive the hook's
// last step.
template <class Examine>
    requires std::convertible_to<std::invoke_result_t<Examine&>, preflight_result>
class alarm_examination {
public:
    explicit alarm_examination(Examine examine) : examine_{std::move(examine)} {}
    alarm_examination(alarm_examination const&) = delete;
    alarm_examination& operator=(alarm_examination const&) = delete;
    ~alarm_examination() = default;

    static constexpr std::uint64_t interval_steps = 1000;  // from one examination to the next

    // The hook calls this with the step of the alarm. Returns the answer, or null where no examination was made.
    // Nothing is thrown.
    [[nodiscard]] experiment_answer const* answer(std::span<finding const> found, step_id step) noexcept {
        if (step.mode != mode::train || !detail::asks_for_experiment(found)) { return nullptr; }
        if (last_ && (step.index > *last_ ? step.index - *last_ : *last_ - step.index) < interval_steps) {
            return nullptr;
        }
        last_ = step.index;
        if (!guarded([&] { examined_ = examine_(); })) { return nullptr; }
        answer_ = detail::answer_of(examined_);
        return &answer_;
    }
    // The last result; empty before the first.
    [[nodiscard]] preflight_result const& examined() const noexcept { return examined_; }

private:
    Examine examine_;
    preflight_result examined_{};
    experiment_answer answer_{};
    std::optional<std::uint64_t> last_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

// The rules of runs that ask for an experiment, and the causes that prove what each names. Where none of these was
// found, the rule may still be right: only `preflight_result::proven_right` refutes a rule.
struct asking_rule {
    rule_id rule;
    std::span<preflight_cause const> causes;
};
[[nodiscard]] inline std::span<asking_rule const> asking_rules() noexcept {
    using enum preflight_cause;
    static constexpr preflight_cause cleared[] = {gradient_not_cleared};
    static constexpr preflight_cause sign[] = {update_direction, negated_gradient, weight_decay_grows};
    static constexpr preflight_cause moves_nothing[] = {learning_rate_zero, dead_update_path, no_gradient};
    static constexpr preflight_cause layer[] = {dead_update_path, learning_rate_zero, no_gradient,
                                                missing_gradient, detached,           no_effect};
    static constexpr preflight_cause large[] = {learning_rate_too_large};
    static constexpr preflight_cause slow[] = {learning_rate_too_small, learning_rate_zero};
    static constexpr preflight_cause backward[] = {no_gradient, detached, missing_gradient, no_effect, wrong_backward};
    static constexpr asking_rule rows[] = {
        {rule_id::gradient_not_cleared, cleared},     {rule_id::update_direction, sign},
        {rule_id::learning_rate_zero, moves_nothing}, {rule_id::dead_update_path, layer},
        {rule_id::learning_rate_too_large, large},    {rule_id::update_ratio_band, large},
        {rule_id::learning_rate_too_small, slow},     {rule_id::updates_too_small, slow},
        {rule_id::vanishing_gradient, backward},
    };
    static_assert(sizeof(rows) / sizeof(*rows) <= experiment_answer::most_words);
    return rows;
}

SPOTTER_COLD_BODY bool asks_for_experiment(std::span<finding const> found) noexcept {
    auto const rules = asking_rules();
    return std::any_of(found.begin(), found.end(), [&](finding const& each) {
        return each.severity >= severity::warning &&
               std::any_of(rules.begin(), rules.end(), [&](asking_rule const& it) { return it.rule == each.id; });
    });
}

// A fault of the loop's own code: not of its data, and no consequence of another fault.
[[nodiscard]] inline bool is_fault_of_code(preflight_finding const& it) noexcept {
    return it.finding.severity >= severity::warning && it.cause >= preflight_cause::no_gradient &&
           it.cause <= preflight_cause::weight_decay_grows;
}

[[nodiscard]] inline experiment_answer::word word_of(asking_rule const& asked,
                                                     preflight_result const& examined) noexcept {
    auto const right = examined.proven_right();
    experiment_answer::word made;
    made.of = asked.rule;
    for (preflight_finding const& each : examined.all()) {
        bool const proves = std::find(asked.causes.begin(), asked.causes.end(), each.cause) != asked.causes.end();
        if (!proves || each.finding.severity < severity::warning) { continue; }
        made.outcome = experiment_outcome::proven, made.proof = {each.finding.rule, each.finding.tensor};
        return made;
    }
    if (std::find(right.begin(), right.end(), asked.rule) != right.end()) {
        made.outcome = experiment_outcome::refuted;
    }
    return made;
}

SPOTTER_COLD_BODY experiment_answer answer_of(preflight_result const& examined) noexcept {
    experiment_answer made;
    for (asking_rule const& each : asking_rules()) { made.add(word_of(each, examined)); }
    if (!examined.all().empty() && is_fault_of_code(examined.all()[0])) { made.lead_with(examined.all()[0].finding); }
    return made;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
