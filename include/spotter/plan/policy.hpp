// SPDX-License-Identifier: Apache-2.0
// Plan (L2): policies: predicates on a step's mode and index. They have no state.
#pragma once

#include <spotter/core/algebra.hpp>
#include <spotter/core/step.hpp>

#include <array>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// The kind of policies: they combine by `&&`, `||` and `!` with each other, but not with patterns or rules.
struct policy_kind : stateless_kind {};

// Whether a step is selected, by its mode and index alone: a constant value with `bool operator()(step_id) const`.
// Called at each step by the training thread.
template <class Value>
concept policy = expression<Value> && std::same_as<typename Value::kind, policy_kind>;

// Index divisible by `interval`: counted from 0, not from the first step seen. An interval of 0 selects no step.
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
    std::uint64_t first = 0;  // selected
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept { return step.index >= first; }
};
// Index below `end`.
struct before {
    using kind = policy_kind;
    std::uint64_t end = 0;  // not selected
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept { return step.index < end; }
};
// first <= index < end.
struct between {
    using kind = policy_kind;
    std::uint64_t first = 0, end = 0;  // `first` is selected, `end` is not
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept {
        return step.index >= first && step.index < end;
    }
};
// At each index, exactly `keep` of the workers are selected: different ones at different indices, each equally often in
// the long run, and without communication. `worker` and `workers` are those of `options`. For example, in the plan of
// each rank:
//     collection{"values", role::weight, every{100} && sampled{.worker = rank, .workers = ranks, .keep = 4}, payload}
struct sampled {
    using kind = policy_kind;
    std::uint32_t worker = 0, workers = 1;  // this worker's number, from 0, and the number of workers
    std::uint32_t keep = 1;                 // 0: none
    std::uint64_t seed = 0;                 // changes the selection; must be the same for all workers
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept {
        if (keep >= workers) { return keep > 0; }
        // worker * stride is a permutation of the workers, because stride and their number are coprime. The index
        // decides where the kept range begins.
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
    // The finalizer of MurmurHash3 (Appleby, public domain): every bit of the result depends on every input bit.
    [[nodiscard]] static constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
        bits = (bits ^ (bits >> 33)) * 0xFF51AFD7ED558CCDULL;
        bits = (bits ^ (bits >> 33)) * 0xC4CEB9FE1A85EC53ULL;
        return bits ^ (bits >> 33);
    }
};
// Exactly these indices, in any mode.
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
    spotter::mode mode = spotter::mode::train;  // the selected one
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

// A default policy: a plan's `fallback` replaces it (plan/plan.hpp).
template <policy Policy>
struct by_default {
    using kind = policy_kind;
    Policy policy;  // applies without a fallback
    [[nodiscard]] constexpr bool operator()(step_id step) const { return policy(step); }
};
template <policy Policy>
by_default(Policy) -> by_default<Policy>;

}  // namespace spotter::inline SPOTTER_ABI
