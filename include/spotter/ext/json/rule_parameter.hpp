// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json/rules.hpp: single parameters of a rule from JSON, and their allowed values.
#pragma once

#include <spotter/ext/json/expression_reader.hpp>
#include <spotter/plan/write_json.hpp>
#include <spotter/rule/builtin/similar_across_runs.hpp>
#include <spotter/stat/predicate.hpp>

#include <nlohmann/json.hpp>

#include <limits>
#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

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
#include <spotter/ext/json/rule_parameter.ipp>
#endif
