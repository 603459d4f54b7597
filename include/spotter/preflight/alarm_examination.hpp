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
#include <spotter/preflight/alarm_examination.ipp>
#endif
