// SPDX-License-Identifier: Apache-2.0
// Ext (L6), for xgboost.hpp: named numbers that XGBoost returns as text: evaluations and parameters.
#pragma once

#include <spotter/core/parse_number.hpp>

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <system_error>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The latest number of each name. A name keeps its index until a text lacks it.
class readings {
public:
    struct reading {
        std::string name;
        double value = 0;
        bool in_text = false;
    };

    void begin_telling() {
        for (reading& each : all_) { each.in_text = false; }
    }
    void drop_missing() {
        std::erase_if(all_, [](reading const& each) { return !each.in_text; });
    }
    // Within one text the first number of a name counts.
    void tell(std::string_view prefix, std::string_view name, double const& value) {
        for (reading& each : all_) {
            std::string_view const known = each.name;
            if (known.size() == prefix.size() + name.size() && known.starts_with(prefix) && known.ends_with(name)) {
                if (!each.in_text) { each.value = value; }
                each.in_text = true;
                return;
            }
        }
        all_.push_back({std::string{prefix}.append(name), value, true});
    }

    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] reading const& operator[](std::size_t i) const noexcept { return all_[i]; }
    // The latest number of `name`; `other` if there is none.
    [[nodiscard]] double value_or(std::string_view name, double other) const noexcept {
        for (reading const& each : all_) {
            if (each.name == name && each.in_text) { return each.value; }
        }
        return other;
    }

private:
    std::deque<reading> all_{};  // a deque, so that names keep their address when it grows
};

// The whole text as a number, whatever the locale; 0 where it is too small for a floating-point type. Writes to a
// reference and never returns a value: -ffast-math assumes that returned values are not NaN.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& into) {
    auto const [end, why] = parse_number(text, into);
    if (text.empty() || end != text.data() + text.size()) { return false; }
    if (why == std::errc::result_out_of_range && text.find_first_of("eE") != text.npos &&
        text[text.find_first_of("eE") + 1] == '-') {
        into = Number{};
        return true;
    }
    return why == std::errc{};
}

// Reads "[7]\ttrain-logloss:0.25\ttest-logloss:0.5": a name ends at the last colon of its part. False where there is
// nothing.
[[nodiscard]] bool read_evaluation(std::string_view text, readings& into);

// Reads the numbers in XGBoost's configuration, in objects whose name ends with `param`. `booster` becomes its kind
// ("gbtree", "dart", "gblinear"). False where it is not valid JSON; the numbers before the error are read.
[[nodiscard]] bool read_parameters(std::string_view config, std::string_view prefix, readings& into,
                                   std::string& booster);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/bits.hpp>
#include <spotter/ext/xgboost/document.hpp>

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

    parameter_reader(std::string_view before, readings& numbers, std::string& kind)
        : prefix{before}, into{numbers}, booster{kind} {}

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

#endif
