// SPDX-License-Identifier: Apache-2.0
// Command line, `diff`: the result as one JSON document.
#pragma once

#include "numbers.hpp"
#include "output.hpp"

#include <spotter/workbench/diff.hpp>

namespace spotter_tool {

namespace detail {

[[nodiscard]] inline json errors_json(spotter::tensor_errors const& it) {
    return {{"elements", it.elements},
            {"differing", it.differing},
            {"outside", it.outside},
            {"nan_mismatches", it.nan_mismatches},
            {"inf_mismatches", it.inf_mismatches},
            {"zero_signs", it.zero_signs},
            {"ulp", it.has_ulp ? json(it.ulp) : json()},
            {"max_abs", number(it.absolute)},
            {"max_rel", number(it.relative)},
            {"rel_l2", number(it.relative_l2)},
            {"cosine", number(it.cosine)}};
}
[[nodiscard]] inline json pair_json(spotter::compared_tensor const& it) {
    json document = {{"a", it.a}, {"b", it.b}, {"verdict", std::string{name_of(it.verdict)}}};
    document["type_a"] = std::string{name_of(it.type_a)};
    document["type_b"] = std::string{name_of(it.type_b)};
    document["shape_a"] = shape_json(it.shape_a);
    document["shape_b"] = shape_json(it.shape_b);
    document["swapped_axes"] = it.swapped_axes;
    document["by_statistics"] = it.by_statistics;
    document["errors"] = it.errors.elements > 0 ? errors_json(it.errors) : json();
    document["worst"] =
        it.errors.worst == spotter::no_index
            ? json()
            : json{{"index", shape_json(it.worst)}, {"a", number(it.errors.worst_a)}, {"b", number(it.errors.worst_b)}};
    document["statistics"] = json_list(it.statistics, [](spotter::statistic_difference const& each) -> json {
        return {{"statistic", std::string{each.which.name()}}, {"a", number(each.a)}, {"b", number(each.b)}};
    });
    auto const hash = [&](std::uint64_t value) { return it.by_hash ? json(fmt::format("{:016x}", value)) : json(); };
    document["by_hash"] = it.by_hash;
    document["hash_a"] = hash(it.hash_a);
    document["hash_b"] = hash(it.hash_b);
    document["trouble"] = it.trouble ? json(std::string{it.trouble.what.view()}) : json();
    document["reference_a"] = it.has_reference ? errors_json(it.reference_a) : json();
    document["reference_b"] = it.has_reference ? errors_json(it.reference_b) : json();
    return document;
}
[[nodiscard]] inline json history_json(spotter::tensor_history const& it) {
    json document = {{"a", it.a}, {"b", it.b}, {"steps", it.steps}, {"differing_steps", it.differing_steps}};
    document["first"] = it.first ? step_json(*it.first) : json();
    document["by_hash"] = it.by_hash;
    document["by_statistics"] = it.by_statistics;
    document["same_statistics"] = it.same_statistics;
    document["not_compared"] = it.not_compared;
    document["unreadable"] = it.unreadable;
    document["trouble"] = it.trouble ? json(std::string{it.trouble.what.view()}) : json();
    document["swapped_axes"] = it.swapped_axes;
    document["worst"] = it.worst.elements > 0 ? errors_json(it.worst) : json();
    document["reference"] = it.with_reference == 0 ? json()
                                                   : json{{"steps", it.with_reference},
                                                          {"rel_l2_a", number(it.reference_a)},
                                                          {"rel_l2_b", number(it.reference_b)},
                                                          {"ulp_a", it.reference_ulp_a},
                                                          {"ulp_b", it.reference_ulp_b}};
    return document;
}
}  // namespace detail

// Adds the result to a document.
inline void put_diff(json& document, spotter::diff_report const& it) {
    document["differs"] = it.differs();
    document["equal"] = it.equal();
    document["compared"] = it.compared;
    document["not_kept"] = it.not_kept;
    document["same_statistics"] = it.same_statistics;
    document["first_unknown"] =
        it.unknown_step ? json{{"step", step_json(*it.unknown_step)}, {"tensor", it.unknown_tensor}} : json();
    document["left_out"] = it.left_out;
    document["settings"] = json_list(it.settings, [](spotter::setting_difference const& each) -> json {
        return {{"what", each.what}, {"a", each.a}, {"b", each.b}};
    });
    document["names_only_a"] = it.names_only_a;
    document["names_only_b"] = it.names_only_b;
    document["steps_only_a"] = json_list(it.steps_only_a, step_json);
    document["steps_only_b"] = json_list(it.steps_only_b, step_json);
    document["steps_awaited"] = it.steps_awaited;
    document["steps"] = it.steps;
    document["pairs"] = it.pairs;
    document["unreadable"] = it.unreadable;
    document["damage_a"] = it.damage_a;
    document["damage_b"] = it.damage_b;
    document["first"] = it.first_step ? json{{"step", step_json(*it.first_step)}, {"tensor", it.first_tensor}} : json();
    document["at_first"] = json_list(it.at_first, detail::pair_json);
    document["tensors"] = json_list(it.tensors, detail::history_json);
}

}  // namespace spotter_tool
