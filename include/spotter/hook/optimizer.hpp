// SPDX-License-Identifier: Apache-2.0
// Hook (L3): an optimizer that asks before it updates: one line changed in a loop that calls `optimizer.step()`.
#pragma once

#include <spotter/hook/hook.hpp>

namespace spotter::inline SPOTTER_ABI {

// Holds references to a hook, an optimizer with `step()`, and a model with `visit_tensors`; all must outlive it.
// `step(...)` observes the model and what else is given, closes the step, and calls the optimizer's step only if nobody
// objects. Its steps are train steps, counted from `first`.
//
//     watched_optimizer optimizer{watch, adam, net};
//     ...
//     if (optimizer.step("loss"_t = loss) == decision::stop) { break; }
template <class Hook, class Optimizer, class Model>
class watched_optimizer {
public:
    watched_optimizer(Hook& watch, Optimizer& inner, Model const& model, std::uint64_t first = 0) noexcept
        : watch_{watch}, inner_{inner}, model_{model}, index_{first} {}

    // What was decided: the update was made where that is `proceed`.
    template <class... Tensors>
    decision step(Tensors const&... tensors) {
        found_ = watch_.step(train(index_++), model_, tensors...);
        decision const said = found_.decision();
        if (said == decision::proceed) { inner_.step(); }
        return said;
    }
    // What the last step found.
    [[nodiscard]] step_alarm const& found() const noexcept { return found_; }
    // The optimizer.
    [[nodiscard]] Optimizer& inner() noexcept { return inner_; }

private:
    Hook& watch_;
    Optimizer& inner_;
    Model const& model_;
    std::uint64_t index_;
    step_alarm found_{};
};

}  // namespace spotter::inline SPOTTER_ABI
