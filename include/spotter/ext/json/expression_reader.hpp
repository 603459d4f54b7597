// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp and ext/json/rules.hpp: patterns and policies as JSON, and how a file is refused.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/ext/json/expression.hpp>
#include <spotter/plan/dynamic_plan.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// What the readers of plans and of rules share. Expressions are kept in `plan_`.
class json_expression_reader {
public:
    using json = nlohmann::json;

protected:
    using part = dynamic_plan::part;

    // The first thing that is wrong is told.
    void refuse(std::string_view key, std::string_view what, errc code = errc::bad_config) noexcept {
        if (why_) { return; }
        why_.code = code;
        why_.what << key.substr(0, 60);
        if (!subject_.empty()) { why_.what << " of " << subject_; }
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

    // {"and": [...]}, {"or": [...]}, {"not": ...} of either kind; other keys are the kind's own.
    template <class Leaf>
    [[nodiscard]] part compound(std::string_view which, json const& it, Leaf const& leaf) {
        if (!it.is_object()) { return leaf(std::string_view{}, it); }
        if (it.size() != 1 || it.begin().key().empty()) { return refused(which, "must have exactly one key here"); }
        std::string const& key = it.begin().key();
        json const& value = it.begin().value();
        if (key == "not") { return not_too_deep(which, plan_.negate(compound(which, value, leaf))); }
        if (key != "and" && key != "or") { return leaf(std::string_view{key}, value); }
        if (!value.is_array() || value.empty()) {
            return refused(which, "\"and\" and \"or\" take a list that is not empty");
        }
        if (value.size() > 256) {
            return refused(which, "\"and\" and \"or\" take 256 items at most; \"names\" and \"at\" 65536");
        }
        part all = compound(which, value[0], leaf);
        for (std::size_t i = 1; i < value.size(); ++i) {
            all = plan_.join(key == "and" ? asked::both : asked::either, all, compound(which, value[i], leaf));
        }
        return not_too_deep(which, all);
    }
    part not_too_deep(std::string_view which, part it) noexcept {
        if (plan_.too_deep()) { refuse(which, "\"and\", \"or\" and \"not\" stand more than 256 deep in it"); }
        return it;
    }
    // Lists are looked through, `at` at every step.
    static constexpr std::size_t longest_list = 65536;

    // `"grad/(" is no ...; at 5: the ( is not closed`.
    part malformed(std::string_view what, pattern_fault const& bad) {
        std::string said = '"' + std::string{bad.pattern.substr(0, 60)} + "\" is a malformed " + std::string{what};
        if (!bad.why.empty()) { said += "; at " + std::to_string(bad.at) + ": " + std::string{bad.why}; }
        return refused("pattern", said, errc::bad_pattern);
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
            if (pattern_fault const bad = glob_matcher::fault_in(*text); !bad.empty()) {
                return malformed("glob", bad);
            }
            return plan_.keep(glob{std::string_view{*text}});
        }
        if (key == "regex") {
            if (text == nullptr) { return refused("pattern", "\"regex\" takes a text"); }
            if (pattern_fault const bad = expression_matcher()->fault(*text); !bad.empty()) {
                return malformed("regular expression (ECMAScript)", bad);
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
            if (list.size() > longest_list) { return refused("pattern", "\"names\" takes 65536 names at most"); }
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
            if (list.size() > longest_list) { return refused("when", "\"at\" takes 65536 steps at most"); }
            return key == "at" ? plan_.keep_at(list) : plan_.keep(between{list[0], list[1]});
        }
        return refused("when", "\"" + std::string{key.substr(0, 40)} +
                                   "\" is none of every, from, before, between, at, during, and, or, not");
    }

    dynamic_plan plan_{};
    std::string subject_{};  // what is being read, as it is told
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail
