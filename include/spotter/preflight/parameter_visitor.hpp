// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the visitor that a net shows its tensors to: with `visit_tensors` as for a hook, or as weights with
// their gradients.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/source.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A tensor as it was shown.
struct shown_tensor {
    std::string_view name{};
    tensor_ref view{};
    role const* given = nullptr;  // the role, where the program gave one
    flag flags = flag::none;
    bool writable = false;            // the view is of the net's own memory
    bool is_gradient_before = false;  // it is the gradient of the tensor before it
};

}  // namespace detail

// The argument of the program's function. `visit("fc1/w", net.w, net.grad_w)` shows a weight and its gradient. So do
// `visit("fc1/w", net.w)` and later `visit("grad/fc1/w", net.grad_w)`, so a net's visit_tensors works with it as with a
// hook. Tensors must be the net's own: a temporary cannot be examined.
class parameter_visitor {
public:
    // Called with each tensor.
    using taker = void (*)(void* to, detail::shown_tensor const&);
    constexpr parameter_visitor(taker take, void* to) noexcept : take_{take}, to_{to} {}

    // A weight and its gradient.
    template <class Weights, class Gradient>
        requires(tensor<std::remove_cvref_t<Gradient>>)
    void operator()(std::string_view name, Weights&& weights, Gradient&& gradient, flag flags = flag::none) const {
        detail::shown_tensor shown = show<Weights>(name, weights, nullptr, flags);
        take_(to_, shown);
        shown = show<Gradient>(name, gradient, nullptr, flags);
        shown.is_gradient_before = true;
        take_(to_, shown);
    }
    // One tensor, as a program shows it to a hook.
    template <class Values>
    void operator()(std::string_view name, Values&& values, flag flags = flag::none) const {
        take_(to_, show<Values>(name, values, nullptr, flags));
    }
    template <class Values>
    void operator()(std::string_view name, Values&& values, role what, flag flags = flag::none) const {
        take_(to_, show<Values>(name, values, &what, flags));
    }

private:
    template <class Values>
    [[nodiscard]] static detail::shown_tensor show(std::string_view name, std::remove_reference_t<Values> const& values,
                                                   role const* what, flag flags) noexcept {
        offered const it = offer(values);
        bool const stays = std::is_lvalue_reference_v<Values> ||
                           std::same_as<std::remove_cvref_t<Values>, tensor_ref> ||
                           requires { typename std::remove_cvref_t<Values>::element_type; };  // a span
        return {name, it.view, what, flags, stays && it.copy == nullptr && it.view.refused == refusal::none, false};
    }

    taker take_;
    void* to_;
};

}  // namespace spotter::inline SPOTTER_ABI
