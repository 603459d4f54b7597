// SPDX-License-Identifier: Apache-2.0
// Hook (L3): an optimizer that updates only if the alarm allows it; replaces `optimizer.step()` in a loop.
#pragma once

#include <spotter/hook/hook.hpp>

namespace spotter::inline SPOTTER_ABI {

// Holds references to a hook, an optimizer with `step()`, and a model with `visit_tensors`; all must outlive it.
// `step(...)` observes the model and its arguments, closes the step, and calls the optimizer's step only if the
// decision is `proceed`. Its steps are train steps, counted from `first`.
//
//     watched_optimizer optimizer{watch, adam, net};
//     ...
//     if (optimizer.step("loss"_t = loss) == decision::stop) { break; }
template <class Hook, class Optimizer, class Model>
class watched_optimizer {
public:
    watched_optimizer(Hook& watch, Optimizer& inner, Model const& model, std::uint64_t first = 0) noexcept
        : watch_{watch}, inner_{inner}, model_{model}, index_{first} {}

    // Returns the decision; the update was made where it is `proceed`.
    template <class... Tensors>
    decision step(Tensors const&... tensors) {
        found_ = watch_.step(train(index_++), model_, tensors...);
        decision const said = found_.decision();
        if (said == decision::proceed) { inner_.step(); }
        return said;
    }
    // The findings of the last step.
    [[nodiscard]] step_alarm const& found() const noexcept { return found_; }
    // The wrapped optimizer.
    [[nodiscard]] Optimizer& inner() noexcept { return inner_; }

private:
    Hook& watch_;
    Optimizer& inner_;
    Model const& model_;
    std::uint64_t index_;
    step_alarm found_{};
};

}  // namespace spotter::inline SPOTTER_ABI
