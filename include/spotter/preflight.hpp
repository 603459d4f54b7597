// SPDX-License-Identifier: Apache-2.0
// A loop is examined before it trains: is every gradient the derivative of the loss, are gradients cleared, does the
// update move every weight the right way and by a sensible length? It experiments on copies of the net, so each finding
// is proven. Includes no third-party header.
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
// `pass` is forward and backward of one batch, with the clearing of gradients that the loop does before it, and returns
// the loss; `step` is the update, with the clearing behind it. Both work on the copy that they are given. The net has
// the visit_tensors that it has for a hook, from input to output. The net, with its random numbers and its place in the
// data, stays as it is. Some 25 to 60 passes where nothing is wrong, whatever the net's size, each on a new copy.
// Nothing is thrown.
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

// Examines a loop by functions of its own: see `examination`.
[[nodiscard]] inline preflight_result preflight(examination const& exam) noexcept {
    return detail::examine(exam, nullptr);
}

}  // namespace spotter::inline SPOTTER_ABI
