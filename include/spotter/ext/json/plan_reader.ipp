// SPDX-License-Identifier: Apache-2.0
// The bodies of plan_reader.hpp.
#pragma once

#include <spotter/ext/json/plan_reader.hpp>
#include <spotter/plan/defaults.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY result<dynamic_plan> json_plan_reader::read(json const& root) {
    for (auto const& [key, ignored] : root.items()) {
        if (key != "collections" && key != "fallback" && key != "dry_run") {
            refuse(key, "unknown key; allowed: collections, fallback, dry_run");
        }
    }
    if (auto const it = root.find("dry_run"); it != root.end()) {
        auto const* const asked_for = it->get_ptr<json::boolean_t const*>();
        if (asked_for == nullptr) { refuse("dry_run", "must be true or false"); }
        plan_.dry_run = asked_for != nullptr && *asked_for;
    }
    if (auto const it = root.find("fallback"); it != root.end()) { fallback(*it); }
    auto const list = root.find("collections");
    if (list == root.end() || !list->is_array()) {
        refuse("collections", "must be a list of collections (a file of SageMaker Debugger has HookParameters or "
                              "CollectionConfigurations instead)");
    } else {
        for (json const& each : *list) {
            if (!why_ && plan_.whole()) { collection(each); }
        }
    }
    if (!why_ && !plan_.whole()) { refuse("collections", "a plan holds at most 64 collections"); }
    if (why_) { return why_; }
    return std::move(plan_);
}

SPOTTER_BODY void json_plan_reader::fallback(json const& it) {
    subject_ = "fallback";
    if (!it.is_object()) { return refuse("fallback", "must be an object with when, what or both"); }
    for (auto const& [key, value] : it.items()) {
        if (key == "when") {
            fallback_when_ = policy(value);
            has_fallback_when_ = true;
        } else if (key == "what") {
            fallback_what_ = contents(value);
        } else {
            refuse(key, "unknown key; allowed: when, what");
        }
    }
    subject_.clear();
}

SPOTTER_BODY void json_plan_reader::collection(json const& it) {
    subject_.clear();
    if (!it.is_object()) { return refuse("collections", "each must be an object with name, pattern, when, what"); }
    auto const named = it.find("name");
    if (named == it.end() || text_of(*named) == nullptr) { return refuse("name", "each collection needs one, a text"); }
    std::string const name = *text_of(*named);
    subject_ = "collection \"" + name.substr(0, 40) + '"';
    part which{}, when = has_fallback_when_ ? fallback_when_ : plan_.keep(always{});
    terms what = fallback_what_;
    if (it.find("pattern") == it.end() && !default_of(name, which, when, what)) {
        refuse("pattern", "missing, and this is no default collection (losses metrics weights biases gradients "
                          "optimizer inputs outputs all ...): which tensors?");
    }
    for (auto const& [key, value] : it.items()) {
        if (key == "pattern") {
            which = pattern(value);
        } else if (key == "when") {
            when = policy(value);
        } else if (key == "what") {
            what = contents(value);
        } else if (key != "name") {
            refuse(key, "unknown key; allowed: name, pattern, when, what");
        }
    }
    if (!why_) { plan_.add(name, which, when, what); }
    subject_.clear();
}

SPOTTER_BODY bool json_plan_reader::default_of(std::string_view name, part& which, part& when, terms& what) noexcept {
    bool found = false;
    auto const look = [&](auto const&... each) {
        auto const take = [&](auto const& it) {
            if (found || it.name != name) { return; }
            found = true;
            which = plan_.keep(it.which);
            when = in_place_of(it.when);
            if (it.what_is_said) { what = it.what; }
        };
        (take(each), ...);
    };
    namespace d = defaults;
    look(d::losses, d::metrics, d::weights, d::biases, d::gradients, d::optimizer, d::inputs, d::outputs, d::all,
         d::boosted::feature_importance, d::boosted::average_shap, d::boosted::full_shap, d::boosted::trees,
         d::boosted::hyperparameters, d::boosted::predictions, d::boosted::labels);
    return found;
}

SPOTTER_BODY terms json_plan_reader::contents(json const& it) {
    terms all = terms::none;
    auto const take = [&](json const& item) {
        std::string const* const text = text_of(item);
        terms found = terms::none;
        if (text != nullptr) {
            for (named_terms const& each : other_contents) {
                if (*text == each.name) { found = each.what; }
            }
            each_statistic([&](statistic each) {
                if (*text == each.name()) { found = stats(each); }
            });
        }
        if (item.is_object() && item.size() == 1 && item.contains("chain") && item["chain"].is_number_unsigned()) {
            auto const chain = item["chain"].template get<std::uint64_t>();
            if (chain > 0 && chain <= delta::longest) { found = delta{static_cast<unsigned>(chain)}; }
        }
        if (!any(found)) {
            std::string const shown = item.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 40);
            refuse("what", shown + " is none of payload, {\"chain\": 1 to 64}, shape, quantiles, histogram, "
                                   "minimum maximum mean stddev "
                                   "variance sum product "
                                   "l1 l2 (most also with _abs), zeros, zero_fraction, nonfinite");
        }
        all |= found;
    };
    if (!it.is_array()) { take(it); }
    if (it.is_array()) {
        for (json const& each : it) { take(each); }
    }
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
