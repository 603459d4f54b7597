// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): an alarm of a run asks for the experiment: is what it names so in the net as it is now?
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

// Whether a warning or an error among these names what can be examined: a rate, a sign, clearing, a layer or a backward
// pass.
[[nodiscard]] bool asks_for_experiment(std::span<finding const> found) noexcept;
// What the examination says of each rule that may ask for it. Texts are of the result.
[[nodiscard]] experiment_answer answer_of(preflight_result const& examined) noexcept;

}  // namespace detail

// Handed to a hook: `watch.examine_with(exam)`. Holds how the net is examined:
//
//     sp::alarm_examination exam{[&] { return sp::preflight(net, pass, step, {.forwards = 200}); }};
//
// At most once in a thousand steps, and at steps with such an alarm only. Must outlive the hook's last step.
template <class Examine>
    requires std::convertible_to<std::invoke_result_t<Examine&>, preflight_result>
class alarm_examination {
public:
    explicit alarm_examination(Examine examine) : examine_{std::move(examine)} {}
    alarm_examination(alarm_examination const&) = delete;
    alarm_examination& operator=(alarm_examination const&) = delete;
    ~alarm_examination() = default;

    static constexpr std::uint64_t interval_steps = 1000;  // from one examination to the next

    // Called by the hook; `step` is the one that the alarm is of. What the experiment says, or null where none was
    // made. Nothing is thrown.
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
    // The last one; empty before.
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
