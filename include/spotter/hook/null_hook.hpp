// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the hook that is not there: the same calls, compiled to nothing.
#pragma once

#include <spotter/hook/hook.hpp>

namespace spotter::inline SPOTTER_ABI {

// For builds that must not carry a spotter: `using my_hook = spotter::null_hook;`. Takes any constructor arguments, finds nothing,
// keeps nothing. Arguments of its calls are still evaluated, by the language's rules; sources are not copied.
struct null_hook {
    template <class... Arguments>
    constexpr explicit null_hook(Arguments const&...) noexcept {}

    [[nodiscard]] constexpr null_hook worker(std::uint32_t) const noexcept { return null_hook{}; }

    struct nothing {
        [[nodiscard]] constexpr explicit operator bool() const noexcept { return false; }
        [[nodiscard]] constexpr spotter::decision decision() const noexcept { return spotter::decision::proceed; }
        [[nodiscard]] constexpr bool empty() const noexcept { return true; }
        [[nodiscard]] constexpr std::size_t size() const noexcept { return 0; }
        [[nodiscard]] constexpr finding const* begin() const noexcept { return nullptr; }
        [[nodiscard]] constexpr finding const* end() const noexcept { return nullptr; }
    };

    template <class Step, class... Tensors>
    constexpr nothing step(Step, Tensors const&...) noexcept {
        return {};
    }
    template <class Step>
    constexpr void begin(Step) noexcept {}
    template <class... Arguments>
    constexpr void observe(Arguments const&...) noexcept {}
    template <class Tensor>
    constexpr decltype(auto) tap(std::string_view, Tensor&& values) noexcept {
        return std::forward<Tensor>(values);
    }
    template <class... Tensors>
    constexpr nothing end(Tensors const&...) noexcept {
        return {};
    }
    template <class... Arguments>
    constexpr void scalar(Arguments const&...) noexcept {}
    template <class... Arguments>
    constexpr tensor_handle tensor(std::string_view, Arguments const&...) noexcept {
        return tensor_handle{};
    }
    struct no_scope {
        constexpr ~no_scope() {}  // a destructor, so that a scope held for its effect is no unused variable
    };
    [[nodiscard]] constexpr no_scope during(mode) noexcept { return {}; }
    constexpr void fail(std::string_view) noexcept {}
    constexpr void finish() noexcept {}
    constexpr void flush() noexcept {}
    constexpr void poll() noexcept {}
    [[nodiscard]] health_report health() const noexcept { return {}; }
    [[nodiscard]] constexpr std::string_view path() const noexcept { return {}; }
};

}  // namespace spotter::inline SPOTTER_ABI
