// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): holds a function of the program, of any type, by value.
#pragma once

#include <spotter/core/tensor_access.hpp>

#include <concepts>
#include <new>
#include <span>
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

}  // namespace spotter::inline SPOTTER_ABI
