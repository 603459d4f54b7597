// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp and ext/json/rules.hpp: patterns and policies in JSON, and the errors of a file.
#pragma once

#include <spotter/core/nearest_word.hpp>
#include <spotter/core/result.hpp>
#include <spotter/plan/dynamic_plan.hpp>

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

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

    [[nodiscard]] part pattern(json const& it);
    [[nodiscard]] part pattern_leaf(std::string_view key, json const& value);
    [[nodiscard]] part names_leaf(json const& value);

    [[nodiscard]] part policy(json const& it);
    [[nodiscard]] part policy_leaf(std::string_view key, json const& value);
    [[nodiscard]] part step_leaf(std::string_view key, json const& value);
    [[nodiscard]] part at_leaf(json const& value);

    dynamic_plan plan_{};
    std::string subject_{};  // what is being read, for errors
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/ext/json/expression_reader.ipp>
#endif
