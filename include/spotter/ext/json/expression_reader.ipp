// SPDX-License-Identifier: Apache-2.0
// The bodies of expression_reader.hpp.
#pragma once

#include <spotter/ext/json/expression.hpp>
#include <spotter/ext/json/expression_reader.hpp>

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
    return refused("pattern", said, errc::bad_pattern);
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::pattern(json const& it) {
    return compound("pattern", it,
                    [this](std::string_view key, json const& value) { return pattern_leaf(key, value); });
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::pattern_leaf(std::string_view key,
                                                                               json const& value) {
    std::string const* const text = text_of(value);
    if (key.empty() || key == "glob") {
        if (text == nullptr) {
            return refused("pattern", "must be a glob, or one of {\"glob\"} {\"regex\"} {\"role\"} {\"names\"} "
                                      "{\"and\"} {\"or\"} {\"not\"}");
        }
        if (pattern_fault const bad = glob_matcher::fault_in(*text); !bad.empty()) { return malformed("glob", bad); }
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
        role which{};
        if (assign_by_name(value, which, role_count)) { return plan_.keep(of_role{which}); }
        nearest_word there{text != nullptr ? std::string_view{*text} : std::string_view{}};
        for (std::size_t i = 0; i < role_count; ++i) { there.among(name_of(static_cast<role>(i))); }
        return refused("pattern", there.sentence(shown(value) + " is no role"));
    }
    if (key == "names") { return names_leaf(value); }
    return refused("pattern", nearest_word{key, {"glob", "regex", "role", "names", "and", "or", "not"}}.sentence(
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
    if (!fine) { return refused("pattern", "\"names\" takes a list of texts"); }
    if (list.size() > longest_list) { return refused("pattern", "\"names\" takes 65536 names at most"); }
    return plan_.keep_names(list);
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::policy(json const& it) {
    return compound("when", it, [this](std::string_view key, json const& value) { return policy_leaf(key, value); });
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::policy_leaf(std::string_view key, json const& value) {
    if (key.empty()) {
        if (value == "always") { return plan_.keep(always{}); }
        if (value == "never") { return plan_.keep(never{}); }
        if (std::string const* const text = text_of(value)) {
            nearest_word const there{*text, {"always", "never"}};
            if (!there.meant().empty()) { return refused("when", there.sentence(shown(value) + " is no policy")); }
        }
        return refused("when", "must be \"always\", \"never\", or one of {\"every\"} {\"from\"} {\"before\"} "
                               "{\"between\"} {\"at\"} {\"during\"} {\"and\"} {\"or\"} {\"not\"}");
    }
    if (key == "every" || key == "from" || key == "before") { return step_leaf(key, value); }
    if (key == "during") {
        mode which{};
        if (assign_by_name(value, which, mode_count)) { return plan_.keep(during{which}); }
        return refused("when", "\"during\" takes \"train\", \"eval\" or \"predict\"");
    }
    if (key == "between") {
        std::uint64_t first = 0, end = 0;
        bool const two = value.is_array() && value.size() == 2;
        if (two && whole(value[0], first) && whole(value[1], end)) { return plan_.keep(between{first, end}); }
        return refused("when", "\"between\" takes two steps, [first, one past the last]");
    }
    if (key == "at") { return at_leaf(value); }
    return refused(
        "when", nearest_word{key, {"every", "from", "before", "between", "at", "during", "and", "or", "not"}}.sentence(
                    shown(key) + " is no policy"));
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::step_leaf(std::string_view key, json const& value) {
    std::uint64_t number = 0;
    bool const is_number = whole(value, number);
    if (key == "every") {
        if (is_number && number > 0) { return plan_.keep(every{number}); }
        return refused("when", "\"every\" takes a whole number of steps, from 1 on");
    }
    if (!is_number) { return refused("when", "\"" + std::string{key} + "\" takes a step: a whole number, from 0 on"); }
    return key == "from" ? plan_.keep(from{number}) : plan_.keep(before{number});
}

SPOTTER_BODY json_expression_reader::part json_expression_reader::at_leaf(json const& value) {
    bool fine = value.is_array();
    std::vector<std::uint64_t> list;
    for (std::size_t i = 0; fine && i < value.size(); ++i) { fine = whole(value[i], list.emplace_back()); }
    if (!fine) { return refused("when", "\"at\" takes a list of steps, [0, 1, 700]"); }
    if (list.size() > longest_list) { return refused("when", "\"at\" takes 65536 steps at most"); }
    return plan_.keep_at(list);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
