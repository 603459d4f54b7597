// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp: plans in spotter's own form.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/ext/json/expression.hpp>
#include <spotter/plan/defaults.hpp>
#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/plan/write_json.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// spotter's own form.
class json_plan_reader {
public:
    using json = nlohmann::json;

    [[nodiscard]] result<dynamic_plan> read(json const& root) {
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
            for (json const& each : *list) { collection(each); }
        }
        if (!why_ && !plan_.whole()) { refuse("collections", "a plan holds at most 64 collections"); }
        if (why_) { return why_; }
        return std::move(plan_);
    }

private:
    using part = dynamic_plan::part;

    // The first thing that is wrong is told.
    void refuse(std::string_view key, std::string_view what, errc code = errc::bad_config) noexcept {
        if (why_) { return; }
        why_.code = code;
        why_.what << key.substr(0, 60);
        if (!name_.empty()) {
            why_.what << " of " << (name_ == "fallback" ? "" : "collection \"") << std::string_view{name_}.substr(0, 40)
                      << (name_ == "fallback" ? "" : "\"");
        }
        why_.what << ": " << what;
    }
    part refused(std::string_view key, std::string_view what, errc code = errc::bad_config) noexcept {
        refuse(key, what, code);
        return {};
    }
    [[nodiscard]] static std::string const* text_of(json const& it) noexcept {
        return it.get_ptr<json::string_t const*>();
    }
    [[nodiscard]] static bool whole(json const& it, std::uint64_t& number) noexcept {
        auto const* const found = it.get_ptr<json::number_unsigned_t const*>();
        number = found == nullptr ? 0 : *found;
        return found != nullptr;
    }

    void fallback(json const& it) {
        name_ = "fallback";
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
        name_.clear();
    }
    void collection(json const& it) {
        name_.clear();
        if (!it.is_object()) { return refuse("collections", "each must be an object with name, pattern, when, what"); }
        auto const named = it.find("name");
        if (named == it.end() || text_of(*named) == nullptr) {
            return refuse("name", "each collection needs one, a text");
        }
        name_ = *text_of(*named);
        part which{}, when = has_fallback_when_ ? fallback_when_ : plan_.keep(always{});
        terms what = fallback_what_;
        if (it.find("pattern") == it.end() && !default_of(name_, which, when, what)) {
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
        if (!why_) { plan_.add(name_, which, when, what); }
        name_.clear();
    }

    // What a default collection keeps under the file's fallback.
    template <class Policy>
    [[nodiscard]] part in_place_of(Policy const& it) noexcept {
        return plan_.keep(it);
    }
    template <class Policy>
    [[nodiscard]] part in_place_of(by_default<Policy> const& it) noexcept {
        return has_fallback_when_ ? fallback_when_ : plan_.keep(it);
    }
    template <class Left, class Right>
    [[nodiscard]] part in_place_of(both<Left, Right> const& it) noexcept {
        part const left = in_place_of(it.left);
        return plan_.join(asked::both, left, in_place_of(it.right));
    }
    [[nodiscard]] bool default_of(std::string_view name, part& which, part& when, terms& what) noexcept {
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

    [[nodiscard]] terms contents(json const& it) {
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

    // {"and": [...]}, {"or": [...]}, {"not": ...} of either kind; other keys are the kind's own.
    template <class Leaf>
    [[nodiscard]] part compound(std::string_view which, json const& it, Leaf const& leaf) {
        if (!it.is_object()) { return leaf(std::string_view{}, it); }
        if (it.size() != 1 || it.begin().key().empty()) { return refused(which, "must have exactly one key here"); }
        std::string const& key = it.begin().key();
        json const& value = it.begin().value();
        if (key == "not") { return plan_.negate(compound(which, value, leaf)); }
        if (key != "and" && key != "or") { return leaf(std::string_view{key}, value); }
        if (!value.is_array() || value.empty()) {
            return refused(which, "\"and\" and \"or\" take a list that is not empty");
        }
        if (value.size() > 256) {
            return refused(which, "\"and\" and \"or\" take 256 items at most; \"names\" and \"at\" have no limit");
        }
        part all = compound(which, value[0], leaf);
        for (std::size_t i = 1; i < value.size(); ++i) {
            all = plan_.join(key == "and" ? asked::both : asked::either, all, compound(which, value[i], leaf));
        }
        return all;
    }

    [[nodiscard]] part pattern(json const& it) {
        return compound("pattern", it,
                        [this](std::string_view key, json const& value) { return pattern_leaf(key, value); });
    }
    [[nodiscard]] part pattern_leaf(std::string_view key, json const& value) {
        std::string const* const text = text_of(value);
        if (key.empty() || key == "glob") {
            if (text == nullptr) {
                return refused("pattern", "must be a glob, or one of {\"glob\"} {\"regex\"} {\"role\"} {\"names\"} "
                                          "{\"and\"} {\"or\"} {\"not\"}");
            }
            if (!glob_matcher::well_formed(*text)) {
                return refused("pattern", "\"" + text->substr(0, 80) + "\" is a malformed glob: close its [ ] and { }",
                               errc::bad_pattern);
            }
            return plan_.keep(glob{std::string_view{*text}});
        }
        if (key == "regex") {
            if (text == nullptr) { return refused("pattern", "\"regex\" takes a text"); }
            if (expression_matcher() == nullptr) {
                return refused("pattern", "regular expressions need a program built with exceptions; use a glob");
            }
            if (!expression_matcher()->well_formed(*text)) {
                return refused("pattern",
                               "\"" + text->substr(0, 80) +
                                   "\" is a malformed regular expression (ECMAScript): close its ( ) and [ ]",
                               errc::bad_pattern);
            }
            return plan_.keep_regex(*text, *expression_matcher());
        }
        if (key == "role") {
            for (std::size_t i = 0; i < role_count; ++i) {
                if (text != nullptr && *text == name_of(static_cast<role>(i))) {
                    return plan_.keep(of_role{static_cast<role>(i)});
                }
            }
            return refused("pattern", "\"role\" takes one of loss gradient weight bias input label prediction "
                                      "preactivation activation optimizer metric tree ... (docs/settings.md)");
        }
        if (key == "names") {
            std::vector<std::string_view> list;
            if (value.is_array()) {
                for (json const& each : value) {
                    if (text_of(each) != nullptr) { list.push_back(*text_of(each)); }
                }
            }
            if (!value.is_array() || list.size() != value.size()) {
                return refused("pattern", "\"names\" takes a list of texts");
            }
            return plan_.keep_names(list);
        }
        return refused("pattern",
                       "\"" + std::string{key.substr(0, 40)} + "\" is none of glob, regex, role, names, and, or, not");
    }

    [[nodiscard]] part policy(json const& it) {
        return compound("when", it,
                        [this](std::string_view key, json const& value) { return policy_leaf(key, value); });
    }
    [[nodiscard]] part policy_leaf(std::string_view key, json const& value) {
        std::string const* const text = text_of(value);
        std::uint64_t number = 0;
        if (key.empty()) {
            if (text != nullptr && *text == "always") { return plan_.keep(always{}); }
            if (text != nullptr && *text == "never") { return plan_.keep(never{}); }
            return refused("when", "must be \"always\", \"never\", or one of {\"every\"} {\"from\"} {\"before\"} "
                                   "{\"between\"} {\"at\"} {\"during\"} {\"and\"} {\"or\"} {\"not\"}");
        }
        if (key == "every") {
            if (!whole(value, number) || number == 0) {
                return refused("when", "\"every\" takes a whole number of steps, from 1 on");
            }
            return plan_.keep(every{number});
        }
        if (key == "from" || key == "before") {
            if (!whole(value, number)) {
                return refused("when", "\"" + std::string{key} + "\" takes a step: a whole number, from 0 on");
            }
            return key == "from" ? plan_.keep(from{number}) : plan_.keep(before{number});
        }
        if (key == "during") {
            for (std::size_t i = 0; i < mode_count; ++i) {
                if (text != nullptr && *text == name_of(static_cast<mode>(i))) {
                    return plan_.keep(during{static_cast<mode>(i)});
                }
            }
            return refused("when", "\"during\" takes \"train\", \"eval\" or \"predict\"");
        }
        if (key == "at" || key == "between") {
            std::vector<std::uint64_t> list;
            bool fine = value.is_array() && (key == "at" || value.size() == 2);
            for (std::size_t i = 0; fine && i < value.size(); ++i) {
                fine = whole(value[i], number);
                list.push_back(number);
            }
            if (!fine) {
                return refused("when", key == "at" ? "\"at\" takes a list of steps, [0, 1, 700]"
                                                   : "\"between\" takes two steps, [first, one past the last]");
            }
            return key == "at" ? plan_.keep_at(list) : plan_.keep(between{list[0], list[1]});
        }
        return refused("when", "\"" + std::string{key.substr(0, 40)} +
                                   "\" is none of every, from, before, between, at, during, and, or, not");
    }

    dynamic_plan plan_{};
    std::string name_{};  // of the collection that is being read
    part fallback_when_{};
    bool has_fallback_when_ = false;
    terms fallback_what_ = terms::payload;
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail
