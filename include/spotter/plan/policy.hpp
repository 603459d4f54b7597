// SPDX-License-Identifier: Apache-2.0
// Plan (L2): policies: which steps. Each looks at the step's own mode and index, never at how often it was asked.
#pragma once

#include <spotter/core/algebra.hpp>
#include <spotter/core/step.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

struct policy_kind : stateless_kind {};

template <class Value>
concept policy = expression<Value> && std::same_as<typename Value::kind, policy_kind>;

// Index divisible by `interval`, so anchored at 0 and not at the first step seen. An interval of 0 is no step.
struct every {
    using kind = policy_kind;
    std::uint64_t interval = 1;
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept {
        return interval != 0 && step.index % interval == 0;
    }
};
// Index at least `first`.
struct from {
    using kind = policy_kind;
    std::uint64_t first = 0;
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept { return step.index >= first; }
};
// Index below `end`.
struct before {
    using kind = policy_kind;
    std::uint64_t end = 0;
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept { return step.index < end; }
};
// first <= index < end.
struct between {
    using kind = policy_kind;
    std::uint64_t first = 0, end = 0;
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept {
        return step.index >= first && step.index < end;
    }
};
// Exactly these indices, of any mode.
template <std::size_t Count>
struct at {
    using kind = policy_kind;
    std::array<std::uint64_t, Count> indices;
    template <std::convertible_to<std::uint64_t>... Index>
    constexpr at(Index... each) noexcept : indices{static_cast<std::uint64_t>(each)...} {}
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept {
        for (std::uint64_t each : indices) {
            if (each == step.index) { return true; }
        }
        return false;
    }
};
template <class... Index>
at(Index...) -> at<sizeof...(Index)>;

struct during {
    using kind = policy_kind;
    spotter::mode mode = spotter::mode::train;
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept { return step.mode == mode; }
};
struct always {
    using kind = policy_kind;
    [[nodiscard]] constexpr bool operator()(step_id) const noexcept { return true; }
};
struct never {
    using kind = policy_kind;
    [[nodiscard]] constexpr bool operator()(step_id) const noexcept { return false; }
};

// A policy that nobody asked for: it gives way to the `fallback` of a plan that has one (plan/plan.hpp).
template <policy Policy>
struct by_default {
    using kind = policy_kind;
    Policy policy;
    [[nodiscard]] constexpr bool operator()(step_id step) const { return policy(step); }
};
template <policy Policy>
by_default(Policy) -> by_default<Policy>;

}  // namespace spotter::inline SPOTTER_ABI
