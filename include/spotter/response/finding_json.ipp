// SPDX-License-Identifier: Apache-2.0
// The bodies of finding_json.hpp.
#pragma once

#include <spotter/core/clock.hpp>
#include <spotter/core/quoted.hpp>
#include <spotter/response/finding_json.hpp>

#include <charconv>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void put_number(finding_line& line, double const& value) noexcept {
    char digits[32];
    if (classify(value) >= number_class::pos_inf) {
        line << "null";
        return;
    }
    auto const end = std::to_chars(digits, digits + sizeof digits, value);
    line << std::string_view{digits, static_cast<std::size_t>(end.ptr - digits)};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY finding_line json_of(finding const& it, finding_origin const& from) noexcept {
    finding_line line;
    auto const put = [&](std::string_view piece) { line << piece; };
    auto const add = [&](std::string_view key, std::string_view value) {
        line << (line.empty() ? "{\"" : ", \"") << key << "\": ";
        put_quoted(detail::shown_in_json(value).view(), put);
    };
    auto const add_number = [&](std::string_view key, double value) {
        line << ", \"" << key << "\": ";
        detail::put_number(line, value);
    };
    add("rule", it.rule);
    add("reason", it.reason);
    add("severity", name_of(it.severity));
    add("decision", name_of(it.decision));
    add("mode", name_of(it.step.mode));
    line << ", \"step\": " << it.step.index;
    add("tensor", it.tensor);
    add("measure", it.measure);
    add_number("measured", it.measured);
    add("relation", symbol_of(it.how));
    add_number("threshold", it.threshold);
    line << ", \"others\": " << it.others;
    add("run", from.run);
    line << ", \"worker\": " << it.worker << ", \"attempt\": " << from.attempt;
    add_number("time", from.time > 0 ? from.time : detail::seconds_now());
    add("detail", it.detail.view());
    add("remedy", it.remedy);
    line << "}\n";
    return line;
}

}  // namespace spotter::inline SPOTTER_ABI
