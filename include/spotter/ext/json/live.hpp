// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a plan and rules that can be exchanged during a run, from JSON documents: `spotter plan RUN plan.json` and
// `spotter rules RUN rules.json`, or `ask_run` (control.hpp). With nlohmann_json 3.10 or later. `live` for rules
// compiles the whole catalogue.
#pragma once

#include <spotter/ext/json.hpp>
#include <spotter/ext/json/rules.hpp>
#include <spotter/plan/live_plan.hpp>
#include <spotter/rule/live_rules.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Parses a document with `parse`.
template <class Content, result<Content> (*parse)(std::string_view) noexcept>
inline constexpr content_reader json_reader{[](std::string_view document, error& why) noexcept -> void* {
                                                result<Content> made = parse(document);
                                                if (!made) {
                                                    why = made.error();
                                                    return nullptr;
                                                }
                                                auto* const content = new (std::nothrow) Content{std::move(*made)};
                                                if (content == nullptr) {
                                                    why = {errc::out_of_memory, "no memory for what was asked for"};
                                                }
                                                return content;
                                            },
                                            [](void* content) noexcept { delete static_cast<Content*>(content); }};

[[nodiscard]] inline result<dynamic_rule> parse_rules_alone(std::string_view text) noexcept {
    return parse_rules(text);
}

}  // namespace detail

// Begins with `first`: `hook watch{"runs/a", live(plan{...}), live(rules...)};`. The writer thread parses later
// documents. The loop takes them over at a close, for the following steps, in microseconds a tensor. Each worker has a
// plan of its own.
template <plan_like Plan>
[[nodiscard]] live_plan<Plan> live(Plan const& first) noexcept {
    return {first, detail::json_reader<dynamic_plan, &parse_plan>};
}
// For one hook.
template <rule... Rules>
    requires(sizeof...(Rules) > 0)
[[nodiscard]] live_rules live(Rules const&... first) noexcept {
    dynamic_rule const all[] = {to_dynamic(first)...};
    return {either_of(all), detail::json_reader<dynamic_rule, &detail::parse_rules_alone>};
}

}  // namespace spotter::inline SPOTTER_ABI
