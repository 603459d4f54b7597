// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): what a net shows its tensors to: `visit_tensors` as it is for a hook, or weights with their
// gradients.
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
    role const* given = nullptr;  // the role, where one was said
    flag flags = flag::none;
    bool writable = false;            // its memory is that of the net
    bool is_gradient_before = false;  // the gradient of the one shown before it
};

}  // namespace detail

// Handed to the program: `visit("fc1/w", net.w, net.grad_w)` shows a weight and its gradient; `visit("fc1/w", net.w)`
// and later `visit("grad/fc1/w", net.grad_w)` do, too, so a net's visit_tensors takes it as it takes a hook's. Tensors
// are shown as they are: a temporary cannot be examined.
class parameter_visitor {
public:
    // What is given each tensor.
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
    // One tensor, as a hook is shown it.
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
