// SPDX-License-Identifier: Apache-2.0
// The bodies of readings.hpp.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/ext/xgboost/document.hpp>
#include <spotter/ext/xgboost/readings.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

SPOTTER_BODY bool read_evaluation(std::string_view text, readings& into) {
    bool any_found = false;
    into.begin_telling();
    for (std::size_t tab = text.find('\t'); tab != text.npos;) {
        text.remove_prefix(tab + 1);
        tab = text.find('\t');
        std::string_view const part = text.substr(0, tab);
        std::size_t const colon = part.rfind(':');
        double value = 0;
        if (colon == part.npos || !read_number(part.substr(colon + 1), value)) { continue; }
        into.tell({}, part.substr(0, colon), value);
        any_found = true;
    }
    return any_found;
}

struct parameter_reader : document_reader<parameter_reader> {
    std::string_view prefix;
    readings& into;
    std::string& booster;

    parameter_reader(std::string_view before, readings& told, std::string& kind)
        : prefix{before}, into{told}, booster{kind} {}

    [[nodiscard]] std::string_view object() const noexcept {
        return levels().size() < 2 || levels().back().is_array ? std::string_view{} : levels()[levels().size() - 2].key;
    }
    void take(double const& value) {
        if (object().ends_with("param") && is_finite(value)) { into.tell(prefix, levels().back().key, value); }
    }
    // XGBoost writes its numbers as texts.
    void take(std::string_view text) {
        double value = 0;
        if (object() == "gradient_booster" && levels().back().key == "name") { booster = text; }
        if (read_number(text, value)) { take(value); }
    }
};

SPOTTER_BODY bool read_parameters(std::string_view config, std::string_view prefix, readings& into,
                                  std::string& booster) {
    into.begin_telling();
    return parameter_reader{prefix, into, booster}.read(config, nlohmann::json::input_format_t::json);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
