// SPDX-License-Identifier: Apache-2.0
// Ext (L6), for xgboost.hpp: named numbers that XGBoost tells as text: evaluations and parameters.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/ext/xgboost/json_scan.hpp>

#include <deque>
#include <string>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// One number of each name, as last told. A name keeps its place until it is left out of a telling.
class readings {
public:
    struct reading {
        std::string name;
        double value = 0;
        bool told = false;
    };

    void begin_telling() {
        for (reading& each : all_) { each.told = false; }
    }
    void drop_untold() {
        std::erase_if(all_, [](reading const& each) { return !each.told; });
    }
    // The first of a name counts within one telling.
    void tell(std::string_view prefix, std::string_view name, double const& value) {
        for (reading& each : all_) {
            std::string_view const known = each.name;
            if (known.size() == prefix.size() + name.size() && known.starts_with(prefix) && known.ends_with(name)) {
                if (!each.told) { each.value = value; }
                each.told = true;
                return;
            }
        }
        all_.push_back({std::string{prefix}.append(name), value, true});
    }

    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] reading const& operator[](std::size_t i) const noexcept { return all_[i]; }
    // What `name` was last told to be; `other` where it was not.
    [[nodiscard]] double value_or(std::string_view name, double other) const noexcept {
        for (reading const& each : all_) {
            if (each.name == name && each.told) { return each.value; }
        }
        return other;
    }

private:
    std::deque<reading> all_{};  // names stay where they are while new ones come
};

// "[7]\ttrain-logloss:0.25\ttest-logloss:0.5": a name ends with the last colon of its part. False where nothing was in it.
[[nodiscard]] inline bool read_evaluation(std::string_view text, readings& into) {
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

// The numbers in XGBoost's configuration: whatever stands in an object whose name ends with `param`. `booster` becomes its kind
// ("gbtree", "dart", "gblinear").
[[nodiscard]] inline bool read_parameters(std::string_view config, std::string_view prefix, readings& into,
                                          std::string& booster) {
    into.begin_telling();
    return json_scan{config}.each([&](std::span<json_level const> levels, std::string_view text) {
        if (levels.size() < 2 || levels.back().is_array) { return; }
        std::string_view const object = levels[levels.size() - 2].key;
        double value = 0;
        if (object == "gradient_booster" && levels.back().key == "name") { booster = text; }
        if (!object.ends_with("param") || !read_number(text, value) || !is_finite(value)) { return; }
        into.tell(prefix, levels.back().key, value);
    });
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
