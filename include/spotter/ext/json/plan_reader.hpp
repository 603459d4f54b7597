// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp: plans in spotter's own form.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/ext/json/expression_reader.hpp>
#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/plan/write_json.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Reads spotter's own form.
class json_plan_reader : json_expression_reader {
public:
    using json_expression_reader::json;

    [[nodiscard]] result<dynamic_plan> read(json const& root);

private:
    void fallback(json const& it);
    void collections(json const& root);
    void collection(json const& it);
    void options_of_run(json const& it);
    void option_of_run(run_option which, json const& value);

    // What a default collection keeps with the file's fallback.
    template <class Policy>
    [[nodiscard]] part in_place_of(Policy const& it) noexcept {
        return plan_.keep(it);
    }
    template <class Policy>
    [[nodiscard]] part in_place_of(by_default<Policy> const& it) noexcept {
        return has_fallback_when_ ? fallback_when_ : plan_.keep(it);
    }
    template <class Left, class Right>
    [[nodiscard]] part in_place_of(both_expressions<Left, Right> const& it) noexcept {
        part const left = in_place_of(it.left);
        return plan_.join(asked::both, left, in_place_of(it.right));
    }
    [[nodiscard]] bool default_of(std::string_view name, part& which, part& when, stats_mask& what) noexcept;

    [[nodiscard]] stats_mask contents(json const& it);
    [[nodiscard]] static stats_mask content_called(std::string_view name) noexcept;
    // Reads {"delta": 8}.
    [[nodiscard]] static stats_mask change_of(json const& it);

    part fallback_when_{};
    bool has_fallback_when_ = false;
    stats_mask fallback_what_ = stats_mask::payload;
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/ext/json/plan_reader.ipp>
#endif
