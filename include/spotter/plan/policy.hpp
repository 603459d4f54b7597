// SPDX-License-Identifier: Apache-2.0
// Plan (L2): policies: which steps. Each looks at the step's own mode and index, never at how often it was asked.
#pragma once

#include <spotter/core/algebra.hpp>
#include <spotter/core/step.hpp>

#include <array>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// What policies are known by: they combine with `&&`, `||` and `!` among each other, and not with patterns or rules.
struct policy_kind : stateless_kind {};

// Says of a step whether it is let through, by its mode and index alone: a constant value with `bool
// operator()(step_id) const`. Asked at each step, by the thread that trains.
template <class Value>
concept policy = expression<Value> && std::same_as<typename Value::kind, policy_kind>;

// Index divisible by `interval`, so anchored at 0 and not at the first step seen. An interval of 0 is no step.
struct every {
    using kind = policy_kind;
    std::uint64_t interval = 1;  // in steps
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept {
        return interval != 0 && step.index % interval == 0;
    }
};
// Index at least `first`.
struct from {
    using kind = policy_kind;
    std::uint64_t first = 0;  // it is let through
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept { return step.index >= first; }
};
// Index below `end`.
struct before {
    using kind = policy_kind;
    std::uint64_t end = 0;  // it is not let through
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept { return step.index < end; }
};
// first <= index < end.
struct between {
    using kind = policy_kind;
    std::uint64_t first = 0, end = 0;  // `first` is let through, `end` is not
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept {
        return step.index >= first && step.index < end;
    }
};
// Of many workers `keep`, others at each index, the same to all of them without a word between them: exactly `keep` at
// each, spread over the workers, and in the long run each as often. `worker` and `workers` are those of `options`. As a
// plan of each rank:
//     collection{"values", role::weight, every{100} && sampled{.worker = rank, .workers = ranks, .keep = 4}, payload}
struct sampled {
    using kind = policy_kind;
    std::uint32_t worker = 0, workers = 1;  // who asks, from 0, and of how many
    std::uint32_t keep = 1;                 // 0: nobody
    std::uint64_t seed = 0;                 // another one draws others; the same for all workers
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept {
        if (keep >= workers) { return keep > 0; }
        // Worker times a number without a divisor in common takes each place once; from where on they are kept is drawn
        // by the index.
        std::uint64_t stride = 1 + mixed(seed) % (workers - 1);
        while (!is_coprime(stride, workers)) { ++stride; }
        std::uint64_t const begin = mixed(seed ^ mixed(step.index + 1)) % workers;
        return (worker * stride + begin) % workers < keep;
    }

private:
    [[nodiscard]] static constexpr bool is_coprime(std::uint64_t a, std::uint64_t b) noexcept {
        while (b != 0) { a = std::exchange(b, a % b); }
        return a == 1;
    }
    // The finaliser of MurmurHash3 (Appleby, public domain): every bit of the result depends on all of those given.
    [[nodiscard]] static constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
        bits = (bits ^ (bits >> 33)) * 0xFF51AFD7ED558CCDULL;
        bits = (bits ^ (bits >> 33)) * 0xC4CEB9FE1A85EC53ULL;
        return bits ^ (bits >> 33);
    }
};
// Exactly these indices, of any mode.
template <std::size_t Count>
struct at {
    using kind = policy_kind;
    std::array<std::uint64_t, Count> indices;  // in any order
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

// Steps of this mode.
struct during {
    using kind = policy_kind;
    spotter::mode mode = spotter::mode::train;  // the one that is let through
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept { return step.mode == mode; }
};
// Every step.
struct always {
    using kind = policy_kind;
    [[nodiscard]] constexpr bool operator()(step_id) const noexcept { return true; }
};
// No step.
struct never {
    using kind = policy_kind;
    [[nodiscard]] constexpr bool operator()(step_id) const noexcept { return false; }
};

// A policy that nobody asked for: it gives way to the `fallback` of a plan that has one (plan/plan.hpp).
template <policy Policy>
struct by_default {
    using kind = policy_kind;
    Policy policy;  // what holds where no fallback does
    [[nodiscard]] constexpr bool operator()(step_id step) const { return policy(step); }
};
template <policy Policy>
by_default(Policy) -> by_default<Policy>;

}  // namespace spotter::inline SPOTTER_ABI
