// SPDX-License-Identifier: Apache-2.0
// Hook (L3): a hook that does nothing: the same calls, compiled to nothing.
#pragma once

#include <spotter/hook/hook.hpp>

namespace spotter::inline SPOTTER_ABI {

// For builds that must not contain spotter: `using my_hook = spotter::null_hook;`. Takes any constructor arguments,
// finds nothing, keeps nothing. The arguments of its calls are still evaluated; sources are not copied.
struct null_hook {
    template <class... Arguments>
    constexpr explicit null_hook(Arguments const&...) noexcept {}

    [[nodiscard]] constexpr null_hook worker(std::uint32_t) const noexcept { return null_hook{}; }

    template <class Step, class... Tensors>
    [[nodiscard]] step_alarm step(Step, Tensors const&...) noexcept {
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
    [[nodiscard]] step_alarm end(Tensors const&...) noexcept {
        return {};
    }
    // Ignores the findings of an examination.
    template <class Result>
    constexpr void add(Result const&) noexcept {}
    // Never calls the examiner: there are no alarms.
    template <class Examiner>
    constexpr void examine_with(Examiner&) noexcept {}
    template <class... Arguments>
    constexpr void scalar(Arguments const&...) noexcept {}
    template <class... Arguments>
    constexpr tensor_handle tensor(std::string_view, Arguments const&...) noexcept {
        return tensor_handle{};
    }
    struct no_scope {
        constexpr ~no_scope() {}  // a destructor, so that a scope object is not reported as an unused variable
    };
    [[nodiscard]] constexpr no_scope during(mode) noexcept { return {}; }
    [[nodiscard]] constexpr no_scope section(std::string_view) noexcept { return {}; }
    constexpr void begin_section(std::string_view) noexcept {}
    constexpr void end_section(std::string_view) noexcept {}
    constexpr void fail(std::string_view) noexcept {}
    constexpr void finish() noexcept {}
    constexpr void flush() noexcept {}
    constexpr void poll() noexcept {}
    [[nodiscard]] constexpr mode current_mode() const noexcept { return mode::train; }
    constexpr void observe_offered(std::string_view, offered const&, role const* = nullptr,
                                   flag = flag::none) noexcept {}
    constexpr void scalar_offered(std::string_view, tensor_ref const&) noexcept {}
    template <class Use>
    constexpr void each_tensor(Use&&) const noexcept {}
    template <class Use>
    constexpr void each_refused(Use&&) const noexcept {}
    template <class Use>
    constexpr void coverage_of_rules(Use&&) const noexcept {}
    [[nodiscard]] health_report health() const noexcept { return {}; }
    [[nodiscard]] constexpr std::string_view path() const noexcept { return {}; }
};

}  // namespace spotter::inline SPOTTER_ABI
