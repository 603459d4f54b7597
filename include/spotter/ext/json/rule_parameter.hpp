// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json/rules.hpp: single parameters of a rule from JSON, and their allowed values.
#pragma once

#include <spotter/ext/json/expression_reader.hpp>
#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/plan/write_json.hpp>
#include <spotter/replay/envelope_file.hpp>
#include <spotter/rule/builtin/similar_across_runs.hpp>
#include <spotter/stat/predicate.hpp>

#include <nlohmann/json.hpp>

#include <deque>
#include <limits>
#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// An expression that a store keeps.
struct dynamic_pattern {
    using kind = pattern_kind;
    dynamic_plan const* in = nullptr;
    dynamic_plan::part which{};
    [[nodiscard]] bool operator()(tensor_info const& tensor) const noexcept { return in->matches(which, tensor); }
};
struct dynamic_policy {
    using kind = policy_kind;
    dynamic_plan const* in = nullptr;
    dynamic_plan::part when{};
    [[nodiscard]] bool operator()(step_id step) const noexcept { return in->admits(when, step); }
};

// A comparison, or `&&`, `||`, `!` of others.
struct predicate_node {
    enum class what : std::uint8_t { comparison, both, either, negated };
    what is = what::comparison;
    statistic left{statistic_id::mean};
    relation how = relation::none;
    double limit = 0;
    predicate_node const *first = nullptr, *second = nullptr;
    std::uint32_t depth = 0;  // nesting depth below it

    [[nodiscard]] truth operator()(summary const& of) const noexcept;
    [[nodiscard]] stats_mask needs() const noexcept;
    [[nodiscard]] evidence shown(summary const& of) const noexcept;
};
struct dynamic_predicate {
    using kind = predicate_kind;
    predicate_node const* it = nullptr;
    [[nodiscard]] truth operator()(summary const& of) const noexcept { return (*it)(of); }
};
[[nodiscard]] inline stats_mask needs_of(dynamic_predicate const& asked) noexcept { return asked.it->needs(); }
[[nodiscard]] evidence evidence_of(dynamic_predicate const& asked, summary const& of) noexcept;

// Everything that the rules of a file refer to; each rule shares ownership. Its parts never move.
struct rule_store {
    dynamic_plan expressions{};
    std::deque<std::string> texts{};
    std::deque<dynamic_pattern> patterns{};
    std::deque<predicate_node> predicates{};
    std::deque<envelope> envelopes{};
};

// Reads "> 0.5".
[[nodiscard]] bool read_bound(std::string_view text, relation& how, double& value) noexcept;
[[nodiscard]] bool read_statistic_name(std::string_view name, statistic& into) noexcept;

// Sets a parameter; on failure returns a description of the expected value, else an empty text.
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, bool& into) noexcept;
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, double& into);
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, std::uint64_t& into) noexcept;
template <std::signed_integral Integer>
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, Integer& into) {
    constexpr std::string_view wanted = "must be a whole number";
    if (!value.is_number_integer()) { return wanted; }
    auto const number = value.get<std::int64_t>();
    bool const large = value.is_number_unsigned() && value.get<std::uint64_t>() > (std::uint64_t{1} << 62U);
    if (large || number < (std::numeric_limits<Integer>::min)() || number > (std::numeric_limits<Integer>::max)()) {
        return wanted;
    }
    into = static_cast<Integer>(number);
    return {};
}
// Sets as many elements as are given, from the first on.
template <class Value, std::size_t Count>
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, Value (&into)[Count]) {
    if (!value.is_array() || value.size() > Count) { return "must be a list, of eight at most"; }
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (std::string_view const wanted = assign_parameter(value[i], into[i]); !wanted.empty()) { return wanted; }
    }
    return {};
}
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, mode& into);
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, severity& into);
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, dtype& into);
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, similar_across_runs::expected& into);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/parse_number.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY truth predicate_node::operator()(summary const& of) const noexcept {
    switch (is) {
        case what::both:
            return conjunction((*first)(of), (*second)(of));
        case what::either:
            return disjunction((*first)(of), (*second)(of));
        case what::negated:
            return negation((*first)(of));
        case what::comparison:
            break;
    }
    measurement const found = measure(left, of);
    if (!found.known || is_nan(found.value) || (!left.is_count() && of.finite() == 0)) { return truth::undecided; }
    return truth_of(holds(found.value, how, limit));
}

SPOTTER_BODY stats_mask predicate_node::needs() const noexcept {
    if (is == what::comparison) { return left.needs(); }
    return first->needs() | (second != nullptr ? second->needs() : stats_mask::none);
}

SPOTTER_BODY evidence predicate_node::shown(summary const& of) const noexcept {
    if (is == what::comparison) { return {left.name(), measure(left, of).value, limit, how}; }
    if (is != what::negated) { return (*first)(of) == (*this)(of) ? first->shown(of) : second->shown(of); }
    evidence found = first->shown(of);
    found.how = opposite_of(found.how);
    return found;
}

SPOTTER_BODY evidence evidence_of(dynamic_predicate const& asked, summary const& of) noexcept {
    return asked.it->shown(of);
}

SPOTTER_BODY bool read_bound(std::string_view text, relation& how, double& value) noexcept {
    text = trimmed(text);
    bool const less = text.starts_with('<');
    if (!less && !text.starts_with('>')) { return false; }
    bool const equal = text.substr(1).starts_with('=');
    how =
        less ? (equal ? relation::less_equal : relation::less) : (equal ? relation::greater_equal : relation::greater);
    text = trimmed(text.substr(equal ? 2 : 1));
    auto const read = parse_number(text, value);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size() && is_finite(value);
}

SPOTTER_BODY bool read_statistic_name(std::string_view name, statistic& into) noexcept {
    bool known = false;
    each_statistic([&](statistic each) {
        if (each.is_called(trimmed(name))) {
            into = each;
            known = true;
        }
    });
    return known;
}

SPOTTER_BODY std::string_view assign_parameter(nlohmann::json const& value, bool& into) noexcept {
    if (!value.is_boolean()) { return "must be true or false"; }
    into = *value.get_ptr<bool const*>();
    return {};
}

SPOTTER_BODY std::string_view assign_parameter(nlohmann::json const& value, double& into) {
    if (!value.is_number()) { return "must be a number"; }
    into = value.get<double>();
    return {};
}

SPOTTER_BODY std::string_view assign_parameter(nlohmann::json const& value, std::uint64_t& into) noexcept {
    auto const* const number = value.get_ptr<nlohmann::json::number_unsigned_t const*>();
    if (number == nullptr) { return "must be a whole number, from 0 on"; }
    into = *number;
    return {};
}

SPOTTER_BODY std::string_view assign_parameter(nlohmann::json const& value, mode& into) {
    bool const known = assign_by_name(value, into, mode_count);
    return known ? std::string_view{} : "must be \"train\", \"eval\" or \"predict\"";
}

SPOTTER_BODY std::string_view assign_parameter(nlohmann::json const& value, severity& into) {
    if (value == "info") {  // the name in older files
        into = severity::note;
        return {};
    }
    bool const known = assign_by_name(value, into, 3);
    return known ? std::string_view{} : "must be \"note\", \"warning\" or \"error\"";
}

SPOTTER_BODY std::string_view assign_parameter(nlohmann::json const& value, dtype& into) {
    bool const known = assign_by_name(value, into, 64);
    return known ? std::string_view{} : "must be the name of a type: f16, bf16, f8_e4m3, f8_e5m2";
}

SPOTTER_BODY std::string_view assign_parameter(nlohmann::json const& value, similar_across_runs::expected& into) {
    bool const same = value == "same";
    if (!same && value != "different") { return "must be \"same\" or \"different\""; }
    into = same ? similar_across_runs::expected::same : similar_across_runs::expected::different;
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
