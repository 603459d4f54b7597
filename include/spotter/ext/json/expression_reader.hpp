// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp and ext/json/rules.hpp: patterns and policies in JSON, and the errors of a file.
#pragma once

#include <spotter/core/nearest_word.hpp>
#include <spotter/core/result.hpp>
#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/plan/regex.hpp>

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] inline text_matcher const* expression_matcher() noexcept { return &matcher_of<regex>; }

// Sets one of the first `count` values of an enumeration, by name.
template <class Enum>
[[nodiscard]] bool assign_by_name(nlohmann::json const& value, Enum& into, std::size_t count) {
    auto const* const text = value.get_ptr<std::string const*>();
    for (std::size_t i = 0; text != nullptr && i < count; ++i) {
        if (name_of(static_cast<Enum>(i)) == *text) {
            into = static_cast<Enum>(i);
            return true;
        }
    }
    return false;
}

// The common part of the readers of plans and of rules. Expressions are kept in `plan_`.
class json_expression_reader {
public:
    using json = nlohmann::json;

protected:
    using part = dynamic_plan::part;

    // Only the first error is kept.
    void refuse(std::string_view key, std::string_view what, errc code = errc::bad_config) noexcept;
    part refused(std::string_view key, std::string_view what, errc code = errc::bad_config) noexcept;
    // A value that is not what it must be.
    void refuse_value(std::string_view key, json const& value, std::string_view wanted) {
        refuse(key, std::string{wanted} + ", not " + shown(value));
    }
    // A key that is none of these.
    void refuse_key(std::string_view key, std::initializer_list<std::string_view> allowed) noexcept {
        refuse(key, nearest_word{key, allowed}.sentence("unknown key"));
    }
    [[nodiscard]] static std::string shown(json const& it);
    [[nodiscard]] static std::string const* text_of(json const& it) noexcept;
    [[nodiscard]] static bool whole(json const& it, std::uint64_t& number) noexcept;

    // {"and": [...]}, {"or": [...]}, {"not": ...} of either kind; all other keys belong to the kind.
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
    part not_too_deep(std::string_view which, part it) noexcept;
    // Limit of a list's length, since `at` is evaluated at every step.
    static constexpr std::size_t longest_list = 65536;

    // `"grad/(" is no ...; at 5: the ( is not closed`.
    part malformed(std::string_view what, pattern_fault const& bad);

    // `key`: what the expression stands for in the file, for errors.
    [[nodiscard]] part pattern(json const& it, std::string_view key);
    [[nodiscard]] part pattern_leaf(std::string_view key, json const& value);
    [[nodiscard]] part names_leaf(json const& value);

    [[nodiscard]] part policy(json const& it, std::string_view key);
    [[nodiscard]] part policy_leaf(std::string_view key, json const& value);
    [[nodiscard]] part step_leaf(std::string_view key, json const& value);
    [[nodiscard]] part at_leaf(json const& value);

    dynamic_plan plan_{};
    std::string subject_{};   // what is being read, for errors
    std::string_view key_{};  // of the expression that is being read
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void json_expression_reader::refuse(std::string_view key, std::string_view what, errc code) noexcept {
    if (why_) { return; }
    why_.code = code;
    why_.what << key.substr(0, 60);
    if (!subject_.empty()) { why_.what << " of " << subject_; }
    why_.what << ": " << what;
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::refused(std::string_view key, std::string_view what,
                                                                          errc code) noexcept {
    refuse(key, what, code);
    return {};
}

SPOTTER_BODY std::string json_expression_reader::shown(json const& it) {
    return it.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 42);
}

SPOTTER_BODY std::string const* json_expression_reader::text_of(json const& it) noexcept {
    return it.get_ptr<json::string_t const*>();
}

SPOTTER_BODY bool json_expression_reader::whole(json const& it, std::uint64_t& number) noexcept {
    auto const* const found = it.get_ptr<json::number_unsigned_t const*>();
    number = found == nullptr ? 0 : *found;
    return found != nullptr;
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::not_too_deep(std::string_view which,
                                                                               part it) noexcept {
    if (plan_.too_deep()) { refuse(which, "\"and\", \"or\" and \"not\" stand more than 256 deep in it"); }
    return it;
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::malformed(std::string_view what,
                                                                            pattern_fault const& bad) {
    std::string said = '"' + std::string{bad.pattern.substr(0, 60)} + "\" is a malformed " + std::string{what};
    if (!bad.why.empty()) { said += "; at " + std::to_string(bad.at) + ": " + std::string{bad.why}; }
    return refused(key_, said, errc::bad_pattern);
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::pattern(json const& it, std::string_view key) {
    key_ = key;
    return compound(key, it, [this](std::string_view name, json const& value) { return pattern_leaf(name, value); });
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::pattern_leaf(std::string_view key,
                                                                               json const& value) {
    std::string const* const text = text_of(value);
    if (key.empty() || key == "glob") {
        if (text == nullptr) {
            return refused(key_, "must be a glob, or one of {\"glob\"} {\"regex\"} {\"role\"} {\"names\"} "
                                 "{\"and\"} {\"or\"} {\"not\"}");
        }
        if (pattern_fault const bad = fault_in_glob(*text); !bad.empty()) { return malformed("glob", bad); }
        return plan_.keep(glob{std::string_view{*text}});
    }
    if (key == "regex") {
        if (text == nullptr) { return refused(key_, "\"regex\" takes a text"); }
        if (pattern_fault const bad = expression_matcher()->fault(*text); !bad.empty()) {
            return malformed("regular expression (ECMAScript)", bad);
        }
        return plan_.keep_regex(*text, *expression_matcher());
    }
    if (key == "role") {
        role which{};
        if (assign_by_name(value, which, role_count)) { return plan_.keep(of_role{which}); }
        nearest_word there{text != nullptr ? std::string_view{*text} : std::string_view{}};
        for (std::size_t i = 0; i < role_count; ++i) { there.among(name_of(static_cast<role>(i))); }
        return refused(key_, there.sentence(shown(value) + " is no role"));
    }
    if (key == "names") { return names_leaf(value); }
    return refused(key_, nearest_word{key, {"glob", "regex", "role", "names", "and", "or", "not"}}.sentence(
                             shown(key) + " is no pattern"));
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::names_leaf(json const& value) {
    bool fine = value.is_array();
    std::vector<std::string_view> list;
    for (std::size_t i = 0; fine && i < value.size(); ++i) {
        std::string const* const name = text_of(value[i]);
        fine = name != nullptr;
        if (fine) { list.push_back(*name); }
    }
    if (!fine) { return refused(key_, "\"names\" takes a list of texts"); }
    if (list.size() > longest_list) { return refused(key_, "\"names\" takes 65536 names at most"); }
    return plan_.keep_names(list);
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::policy(json const& it, std::string_view key) {
    key_ = key;
    return compound(key, it, [this](std::string_view name, json const& value) { return policy_leaf(name, value); });
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::policy_leaf(std::string_view key, json const& value) {
    if (key.empty()) {
        if (value == "always") { return plan_.keep(always{}); }
        if (value == "never") { return plan_.keep(never{}); }
        if (std::string const* const text = text_of(value)) {
            nearest_word const there{*text, {"always", "never"}};
            if (!there.meant().empty()) { return refused(key_, there.sentence(shown(value) + " is no policy")); }
        }
        return refused(key_, "must be \"always\", \"never\", or one of {\"every\"} {\"from\"} {\"before\"} "
                             "{\"between\"} {\"at\"} {\"during\"} {\"and\"} {\"or\"} {\"not\"}");
    }
    if (key == "every" || key == "from" || key == "before") { return step_leaf(key, value); }
    if (key == "during") {
        mode which{};
        if (assign_by_name(value, which, mode_count)) { return plan_.keep(during{which}); }
        return refused(key_, "\"during\" takes \"train\", \"eval\" or \"predict\", not " + shown(value));
    }
    if (key == "between") {
        std::uint64_t first = 0, end = 0;
        bool const two = value.is_array() && value.size() == 2;
        if (two && whole(value[0], first) && whole(value[1], end)) { return plan_.keep(between{first, end}); }
        return refused(key_, "\"between\" takes two steps, [first, one past the last], not " + shown(value));
    }
    if (key == "at") { return at_leaf(value); }
    return refused(
        key_, nearest_word{key, {"every", "from", "before", "between", "at", "during", "and", "or", "not"}}.sentence(
                  shown(key) + " is no policy"));
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::step_leaf(std::string_view key, json const& value) {
    std::uint64_t number = 0;
    bool const is_number = whole(value, number);
    if (key == "every") {
        if (is_number && number > 0) { return plan_.keep(every{number}); }
        return refused(key_, "\"every\" takes a whole number of steps, from 1 on, not " + shown(value));
    }
    if (!is_number) {
        return refused(key_,
                       "\"" + std::string{key} + "\" takes a step: a whole number, from 0 on, not " + shown(value));
    }
    return key == "from" ? plan_.keep(from{number}) : plan_.keep(before{number});
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::at_leaf(json const& value) {
    bool fine = value.is_array();
    std::vector<std::uint64_t> list;
    for (std::size_t i = 0; fine && i < value.size(); ++i) { fine = whole(value[i], list.emplace_back()); }
    if (!fine) { return refused(key_, "\"at\" takes a list of steps, [0, 1, 700]"); }
    if (list.size() > longest_list) { return refused(key_, "\"at\" takes 65536 steps at most"); }
    return plan_.keep_at(list);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
