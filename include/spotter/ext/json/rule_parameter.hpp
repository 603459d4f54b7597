// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json/rules.hpp: single values of a rule from JSON, and what a value may be.
#pragma once

#include <spotter/plan/write_json.hpp>
#include <spotter/rule/builtin/similar_across_runs.hpp>
#include <spotter/stat/predicate.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <limits>
#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] inline std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && text.front() == ' ') { text.remove_prefix(1); }
    while (!text.empty() && text.back() == ' ') { text.remove_suffix(1); }
    return text;
}
// "> 0.5".
[[nodiscard]] inline bool read_bound(std::string_view text, relation& how, double& value) noexcept {
    text = trimmed(text);
    bool const less = text.starts_with('<');
    if (!less && !text.starts_with('>')) { return false; }
    bool const equal = text.substr(1).starts_with('=');
    how =
        less ? (equal ? relation::less_equal : relation::less) : (equal ? relation::greater_equal : relation::greater);
    text = trimmed(text.substr(equal ? 2 : 1));
    auto const read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size() && is_finite(value);
}
[[nodiscard]] inline bool read_statistic_name(std::string_view name, statistic& into) noexcept {
    bool known = false;
    each_statistic([&](statistic each) {
        if (each.name() == trimmed(name)) {
            into = each;
            known = true;
        }
    });
    return known;
}

// Sets a parameter; what it should have been where it cannot be.
[[nodiscard]] inline std::string_view assign_parameter(nlohmann::json const& value, bool& into) noexcept {
    if (!value.is_boolean()) { return "must be true or false"; }
    into = *value.get_ptr<bool const*>();
    return {};
}
[[nodiscard]] inline std::string_view assign_parameter(nlohmann::json const& value, double& into) {
    if (!value.is_number()) { return "must be a number"; }
    into = value.get<double>();
    return {};
}
[[nodiscard]] inline std::string_view assign_parameter(nlohmann::json const& value, std::uint64_t& into) noexcept {
    auto const* const number = value.get_ptr<nlohmann::json::number_unsigned_t const*>();
    if (number == nullptr) { return "must be a whole number, from 0 on"; }
    into = *number;
    return {};
}
template <std::signed_integral Integer>
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, Integer& into) {
    constexpr std::string_view wanted = "must be a whole number";
    if (!value.is_number_integer()) { return wanted; }
    auto const number = value.get<std::int64_t>();
    bool const large = value.is_number_unsigned() && value.get<std::uint64_t>() > (std::uint64_t{1} << 62U);
    if (large || number < std::numeric_limits<Integer>::min() || number > std::numeric_limits<Integer>::max()) {
        return wanted;
    }
    into = static_cast<Integer>(number);
    return {};
}
// Of as many as are given, from the first on.
template <class Value, std::size_t Count>
[[nodiscard]] std::string_view assign_parameter(nlohmann::json const& value, Value (&into)[Count]) {
    if (!value.is_array() || value.size() > Count) { return "must be a list, of eight at most"; }
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (std::string_view const wanted = assign_parameter(value[i], into[i]); !wanted.empty()) { return wanted; }
    }
    return {};
}
// One of the first `count` values of an enumeration, by name.
template <class Enum, class Name>
[[nodiscard]] bool assign_by_name(nlohmann::json const& value, Enum& into, std::size_t count, Name const& name) {
    auto const* const text = value.get_ptr<std::string const*>();
    for (std::size_t i = 0; text != nullptr && i < count; ++i) {
        if (name(static_cast<Enum>(i)) == *text) {
            into = static_cast<Enum>(i);
            return true;
        }
    }
    return false;
}
[[nodiscard]] inline std::string_view assign_parameter(nlohmann::json const& value, mode& into) {
    bool const known = assign_by_name(value, into, mode_count, [](mode it) { return name_of(it); });
    return known ? std::string_view{} : "must be \"train\", \"eval\" or \"predict\"";
}
[[nodiscard]] inline std::string_view assign_parameter(nlohmann::json const& value, severity& into) {
    bool const known = assign_by_name(value, into, 3, [](severity it) { return name_of(it); });
    return known ? std::string_view{} : "must be \"info\", \"warning\" or \"error\"";
}
[[nodiscard]] inline std::string_view assign_parameter(nlohmann::json const& value, dtype& into) {
    bool const known = assign_by_name(value, into, 64, [](dtype it) { return name_of(it); });
    return known ? std::string_view{} : "must be the name of a type: f16, bf16, f8_e4m3, f8_e5m2";
}
[[nodiscard]] inline std::string_view assign_parameter(nlohmann::json const& value,
                                                       similar_across_runs::expected& into) {
    bool const same = value == "same";
    if (!same && value != "different") { return "must be \"same\" or \"different\""; }
    into = same ? similar_across_runs::expected::same : similar_across_runs::expected::different;
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI::detail
