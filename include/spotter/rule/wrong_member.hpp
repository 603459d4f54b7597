// SPDX-License-Identifier: Apache-2.0
// Rule (L2): compile-time messages that name the member which keeps a type from being a rule.
#pragma once

#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

struct no_rule_state {};
template <class Value>
struct stated {
    using type = no_rule_state;
};
template <class Value>
    requires requires { typename Value::state; }
struct stated<Value> {
    using type = typename Value::state;
};

// Names the member that keeps a type from being a rule that a machine can run.
template <class Value>
constexpr void tell_wrong_member() noexcept {
    using state = typename stated<Value>::type;
    constexpr bool reads_values = requires { &Value::extract; } || requires { &Value::feature_key; };
    static_assert(rule<Value>, "spotter: a rule needs `using kind = spotter::rule_kind;`, publicly.");
    static_assert(
        requires {
            { Value::name } -> std::convertible_to<std::string_view>;
        }, "spotter: a rule needs its name, publicly: `static constexpr std::string_view name = \"...\";`.");
    static_assert(
        !std::same_as<state, no_rule_state> && std::default_initializable<state>,
        "spotter: a rule needs its memory, publicly: `struct state {...};`, made without arguments; empty if it "
        "remembers nothing.");
    static_assert(
        requires(Value const& it, tensor_info const& tensor) {
            { it.needs(tensor) } -> std::same_as<stats_mask>;
        }, "spotter: `needs` of this rule is missing or is not `constexpr stats_mask needs(tensor_info const&) const`; "
           "stats(l2, mean) are a stats_mask, stats_mask::none leaves a tensor out.");
    static_assert(
        reads_values || requires(Value const& it, state& memory, observation const& seen) { it.observe(memory, seen); },
        "spotter: `observe` of this rule is missing or is not `constexpr void observe(state&, observation const&) "
        "const`.");
    static_assert(
        !reads_values ||
            requires(Value const& it, state& memory, tensor_info const& tensor) {
                requires requires {
                    { it.feature_key() } -> std::same_as<std::uint64_t>;
                } || requires {
                    { it.feature_key(memory, tensor) } -> std::same_as<std::uint64_t>;
                };
            },
        "spotter: `feature_key` of this rule that reads values is missing or is not `constexpr std::uint64_t "
        "feature_key() const`, nor `(state const&, tensor_info const&) const`.");
    static_assert(
        !reads_values || requires(Value const& it, state& memory, observation const& seen, tensor_ref const& values,
                                  feature& out) { it.extract(memory, seen, values, out); },
        "spotter: `extract` of this rule that reads values is missing or is not `constexpr void extract(state&, "
        "observation const&, tensor_ref const& values, feature& out) const`.");
    static_assert(
        !reads_values || requires(Value const& it, state& memory, observation const& seen,
                                  std::span<double const> made) { it.observe(memory, seen, made); },
        "spotter: `observe` of this rule that reads values is missing or is not `constexpr void observe(state&, "
        "observation const&, std::span<double const> feature) const`.");
    static_assert(
        requires(Value const& it, state& memory, findings& out) {
            { it.close(memory, step_id{}, out) } -> std::same_as<truth>;
        }, "spotter: `close` of this rule is missing or is not `constexpr truth close(state&, step_id, findings&) "
           "const`; it returns truth::yes, no or undecided.");
}

// The same for optional members: with another signature they would never be called.
template <class Value>
struct right_choices {
    using state = typename Value::state;
    static_assert(
        !requires { &Value::context; } ||
            requires(Value const& it, tensor_info const& tensor) {
                { it.context(tensor) } -> std::same_as<stats_mask>;
            },
        "spotter: `context` of this rule is not `constexpr stats_mask context(tensor_info const&) const`.");
    static_assert(
        !requires { &Value::declare; } ||
            requires(Value const& it, state& memory, tensor_info const& tensor) { it.declare(memory, tensor); },
        "spotter: `declare` of this rule is not `constexpr bool declare(state&, tensor_info const&) const`.");
    static_assert(
        !requires { &Value::poll; } ||
            requires(Value const& it, state& memory, double const& now) {
                { it.poll(memory, now) } -> std::same_as<truth>;
            },
        "spotter: `poll` of this rule is not `constexpr truth poll(state&, double const& now) const`.");
    static_assert(
        !requires { &Value::gap; } ||
            requires(Value const& it, tensor_info const& tensor) {
                { it.gap(tensor) } -> std::convertible_to<std::string_view>;
            },
        "spotter: `gap` of this rule is not `constexpr std::string_view gap(tensor_info const&) const`.");
    static_assert(
        !requires { &Value::silence; } ||
            requires(Value const& it, state const& memory) {
                { it.silence(memory) } -> std::convertible_to<std::string_view>;
            },
        "spotter: `silence` of this rule is not `constexpr std::string_view silence(state const&) const`.");
    static_assert(
        !requires { &Value::looks; } ||
            requires(Value const& it, state const& memory, observation const& seen) {
                { it.looks(memory, seen) } -> std::same_as<bool>;
            },
        "spotter: `looks` of this rule is not `constexpr bool looks(state const&, observation const&) const`.");
    static_assert(
        !requires { &Value::short_of_memory; } ||
            requires(Value const& it, state const& memory) {
                { it.short_of_memory(memory) } -> std::same_as<bool>;
            },
        "spotter: `short_of_memory` of this rule is not `constexpr bool short_of_memory(state const&) const`.");
    static_assert(
        !requires { &Value::malformed; } ||
            requires(Value const& it) {
                { it.malformed() } -> std::convertible_to<pattern_fault>;
            },
        "spotter: `malformed` of this rule is not `constexpr pattern_fault malformed() const`.");
};

// What a hook calls, so that the compiler reports no further errors.
struct machine_of_none {
    static constexpr bool polls = false, reads_times = false;
    constexpr tensor_needs declare(tensor_info const&) { return {}; }
    constexpr void observe(observation const&) {}
    constexpr truth close(step_id, findings&) { return truth::undecided; }
    [[nodiscard]] constexpr bool due(step_id) const { return false; }
    constexpr void poll(double const&) {}
    template <class Use>
    constexpr void report(Use&&) const {}
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return {}; }
};

}  // namespace detail

template <class Rule>
class machine : public detail::machine_of_none {
public:
    constexpr explicit machine(Rule const&) noexcept { detail::tell_wrong_member<Rule>(); }
};

}  // namespace spotter::inline SPOTTER_ABI
