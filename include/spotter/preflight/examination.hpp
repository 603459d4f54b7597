// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the input of an examination: the loop's own functions, how they show tensors, and the budget.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/source.hpp>
#include <spotter/core/tensor_access.hpp>

#include <concepts>
#include <cstdio>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Given>
struct is_view : std::is_same<Given, tensor_ref> {};
template <class Value, std::size_t Extent>
struct is_view<std::span<Value, Extent>> : std::true_type {};

// Converts the result of a function: a number to double, a container that outlives the call to a view of it.
template <class Result, class Call, class... Arguments>
[[nodiscard]] Result handed_over(Call& call, Arguments&&... arguments) {
    using given = std::invoke_result_t<Call&, Arguments...>;
    if constexpr (std::is_void_v<Result>) {
        static_cast<void>(call(std::forward<Arguments>(arguments)...));
    } else if constexpr (std::same_as<Result, tensor_ref>) {
        static_assert(std::is_lvalue_reference_v<given> || is_view<std::remove_cvref_t<given>>::value,
                      "spotter: this function returns a copy. Return a reference, [](net& n) -> auto& { return n.x; }, "
                      "a std::span, or view_of(n.x, "
                      "{samples, features}).");
        return as_tensor(call(std::forward<Arguments>(arguments)...));
    } else {
        static_assert(std::convertible_to<given, Result>, "spotter: this function must return the loss, a number.");
        return static_cast<Result>(call(std::forward<Arguments>(arguments)...));
    }
}

}  // namespace detail

// Holds a function. False without one, or where memory for it is short. Can be moved, not copied. Exceptions of the
// function pass through.
template <class Signature>
class handle;
template <class Result, class... Arguments>
class handle<Result(Arguments...)> {
public:
    // None.
    constexpr handle() noexcept = default;
    // A function, or an object that is called as one.
    template <class Call>
        requires(!std::same_as<std::remove_cvref_t<Call>, handle> &&
                 std::invocable<std::remove_cvref_t<Call>&, Arguments...>)
    handle(Call&& call) : kept_{keep(std::forward<Call>(call))} {
        using kept = std::remove_cvref_t<Call>;
        if (kept_ == nullptr) { return; }
        run_ = [](void* it, Arguments... arguments) -> Result {
            return detail::handed_over<Result>(*static_cast<kept*>(it), std::forward<Arguments>(arguments)...);
        };
        drop_ = [](void* it) noexcept { delete static_cast<kept*>(it); };
    }
    handle(handle&& other) noexcept
        : kept_{std::exchange(other.kept_, nullptr)}, run_{other.run_}, drop_{other.drop_} {}
    handle& operator=(handle other) noexcept {
        std::swap(kept_, other.kept_), std::swap(run_, other.run_), std::swap(drop_, other.drop_);
        return *this;
    }
    ~handle() {
        if (kept_ != nullptr) { drop_(kept_); }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return kept_ != nullptr; }
    // Calls it. Must hold a function.
    Result operator()(Arguments... arguments) const { return run_(kept_, std::forward<Arguments>(arguments)...); }

private:
    template <class Call>
    [[nodiscard]] static void* keep(Call&& call) {
        return new (std::nothrow) std::remove_cvref_t<Call>(std::forward<Call>(call));
    }

    void* kept_ = nullptr;
    Result (*run_)(void*, Arguments...) = nullptr;
    void (*drop_)(void*) noexcept = nullptr;
};

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

// A loop whose net cannot be copied (libtorch, globals, another device), as functions:
//
//     sp::examination exam{.parameters = [&](auto& visit) { visit("fc1/w", net.w, net.grad_w); },
//                          .backward = [&] { return net.forward_backward(); },
//                          .update = [&] { net.update(); },
//                          .save = [&] { kept = net.moments; },
//                          .restore = [&] { net.moments = kept; }};
//     auto const found = sp::preflight(exam);
//
// The examination saves the weights and puts them back. `save` and `restore` must keep everything else that a pass or
// an update changes: moments, running statistics, the state of random numbers, the place in the data. The last
// experiment checks this. Without `restore`, nothing else may change.
struct examination {
    // Shows the weights with their gradients, from input to output. Called again whenever tensors may have moved.
    // Required.
    handle<void(parameter_visitor&)> parameters{};
    // The loss of a forward pass alone; if absent, `backward` is called.
    handle<double()> loss{};
    // Forward and backward for one batch, the same at each call, including the clearing of gradients that the loop does
    // before it. Required.
    handle<double()> backward{};
    // The update, including the clearing that the loop does after it.
    handle<void()> update{};
    // Called once, before anything else.
    handle<void()> save{};
    // Called whenever the examination goes back to the beginning.
    handle<void()> restore{};

    // Optional; each allows further proofs.
    handle<tensor_ref()> inputs{};   // of the batch, [samples, ...]; the examination changes them and puts them back
    handle<tensor_ref()> outputs{};  // of the last pass, [samples, ...]
    handle<tensor_ref()> labels{};   // of the batch; likewise
    handle<void(std::uint64_t)> seed{};  // seeds the random numbers that a pass draws
    handle<void(bool)> training{};       // true: training mode, false: evaluation

    std::size_t batch = 0;  // samples; 0: the first extent of the inputs, or the number of labels
    // The most passes, forward alone or with backward; what they do not reach is not proven.
    std::size_t forwards = 500;
    // The factor that gradients still have after a pass: 1024 for a loss that is scaled so; the batch size where
    // update() divides gradients by it.
    double loss_scale = 1;
    // Also trains on the one batch, and checks whether the labels depend on the inputs: hundreds of passes more.
    bool overfit = false;
    // Calls `restore` before each pass: needed where a pass draws its batch or random numbers from state that `restore`
    // rewinds.
    bool restore_each = false;
    std::FILE* progress = nullptr;  // progress is written here, at most twice a second
};

// The same handles for a net that is copied, as functions of the copy: `{.inputs = [](net& n) -> auto& { return n.x;
// }}`. See `examination`.
template <class Net>
struct preflight_options {
    handle<double(Net&)> loss{};  // a forward pass alone; most passes need no more
    // [samples, ...]; if absent, the tensors that visit_tensors shows as inputs.
    handle<tensor_ref(Net&)> inputs{};
    handle<tensor_ref(Net&)> outputs{};        // [samples, ...]
    handle<tensor_ref(Net&)> labels{};         // of each sample
    handle<void(Net&, std::uint64_t)> seed{};  // not needed where the net holds its random numbers
    handle<void(Net&, bool)> training{};       // true: training mode, false: evaluation
    std::size_t batch = 0;                     // samples
    std::size_t forwards = 500;                // the most passes
    double loss_scale = 1;                     // the factor that gradients still have after a pass
    bool overfit = false;                      // also train on the one batch
    std::FILE* progress = nullptr;             // progress is written here
};

namespace detail {

// The net that is copied; the examination must not change it.
struct original_net {
    void const* net = nullptr;
    void (*show)(void const* net, parameter_visitor& visit) = nullptr;
    bool may_be_put_back = false;  // it is not const
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
