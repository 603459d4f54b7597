// SPDX-License-Identifier: Apache-2.0
// Examines a loop before it trains: is every gradient the derivative of the loss, are gradients cleared, does the
// update move every weight in the right direction and by a sensible length? It experiments on copies of the net, so a
// finding is proven unless its text says otherwise. Includes no third-party header.
#pragma once

#include <spotter/preflight/alarm_examination.hpp>
#include <spotter/preflight/copied_net.hpp>
#include <spotter/preflight/examine.hpp>

namespace spotter::inline SPOTTER_ABI {

// Examines a net that can be copied:
//
//     auto const found = sp::preflight(net, [](auto& n) { return n.forward_backward(); }, [](auto& n) { n.update(); });
//     if (found) { sp::print(found); }
//
// `pass` runs forward and backward for one batch, clears gradients before that if the loop does, and returns the loss.
// `step` is the update, and clears gradients after it if the loop does. Both must work on the copy that they receive.
// The net needs the visit_tensors that a hook needs, which shows tensors from input to output. The net itself, with its
// random numbers and its place in the data, does not change. Where nothing is wrong it takes some 25 to 60 passes, each
// on a new copy, whatever the net's size. Nothing is thrown.
template <class Net, class Pass, class Step>
[[nodiscard]] preflight_result preflight(Net& net, Pass pass, Step step,
                                         preflight_options<std::remove_const_t<Net>> const& choices = {}) noexcept {
    using plain = std::remove_const_t<Net>;
    static_assert(std::copy_constructible<plain>,
                  "spotter: this net cannot be copied: hand over sp::examination{.parameters, .backward, .update, "
                  ".save, .restore} instead.");
    static_assert(detail::shows_tensors<plain>, "spotter: the net needs the free function that a hook asks for, in its "
                                                "own namespace: template <class Visit> void visit_tensors(my_net "
                                                "const& net, Visit visit), which calls visit(\"fc1/w\", net.w) and "
                                                "visit(\"grad/fc1/w\", net.grad_w) for each weight.");
    static_assert(std::invocable<Pass&, plain&> && std::invocable<Step&, plain&>,
                  "spotter: pass and step are called with a copy of the net: [](auto& n) { return "
                  "n.forward_backward(); }, [](auto& n) { n.update(); }.");
    if constexpr (std::copy_constructible<plain> && detail::shows_tensors<plain> && std::invocable<Pass&, plain&> &&
                  std::invocable<Step&, plain&>) {
        static_assert(std::convertible_to<std::invoke_result_t<Pass&, plain&>, double>,
                      "spotter: pass returns the loss, a number.");
        detail::copied_net<plain, Pass, Step> copies{net, pass, step, choices};
        detail::original_net const original{
            &net,
            [](void const* it, parameter_visitor& visit) { detail::show_net(*static_cast<plain const*>(it), visit); },
            !std::is_const_v<Net>};
        return detail::examine(copies.functions(), &original);
    }
}

// Examines a loop through its own functions: see `examination`.
[[nodiscard]] inline preflight_result preflight(examination const& exam) noexcept {
    return detail::examine(exam, nullptr);
}

}  // namespace spotter::inline SPOTTER_ABI
