// SPDX-License-Identifier: Apache-2.0
// Command line: a collection's policy, parsed from its description in a record (plan/describe.hpp). Only used for the
// estimates of `info`.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/plan/policy.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace spotter_tool {

using step_predicate = std::function<bool(spotter::step_id)>;

namespace detail {

class policy_words {
public:
    explicit policy_words(std::string_view text) : rest_{text} {}

    // Empty where part is unknown: a function of the program, or a description that an older version truncated.
    [[nodiscard]] step_predicate whole() {
        step_predicate found = one();
        return rest_.empty() ? found : step_predicate{};
    }

private:
    [[nodiscard]] bool take(std::string_view word) {
        if (!rest_.starts_with(word)) { return false; }
        rest_.remove_prefix(word.size());
        return true;
    }
    // Numbers up to the brace, separated by commas.
    [[nodiscard]] std::optional<std::vector<std::uint64_t>> numbers() {
        std::vector<std::uint64_t> all;
        do {
            std::uint64_t number = 0;
            auto const [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
            if (code != std::errc{}) { return std::nullopt; }
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            all.push_back(number);
        } while (take(", "));
        return take("}") ? std::optional{all} : std::nullopt;
    }
    [[nodiscard]] step_predicate one() {
        if (depth_ > deepest) { return {}; }
        ++depth_;
        step_predicate const found = leaf_or_more();
        --depth_;
        return found;
    }
    [[nodiscard]] step_predicate leaf_or_more() {
        if (take("!")) {
            step_predicate const inner = one();
            return inner ? [inner](spotter::step_id step) { return !inner(step); } : step_predicate{};
        }
        if (take("(")) { return two(); }
        if (take("always")) {
            return [](spotter::step_id) { return true; };
        }
        if (take("never")) {
            return [](spotter::step_id) { return false; };
        }
        if (take("during{")) { return mode(); }
        for (std::string_view const word : {"every{", "from{", "before{", "between{", "at{"}) {
            if (take(word)) { return counted(word); }
        }
        return {};
    }
    [[nodiscard]] step_predicate two() {
        step_predicate const left = one();
        bool const both = take(" && ");
        if (!left || (!both && !take(" || "))) { return {}; }
        step_predicate const right = one();
        if (!right || !take(")")) { return {}; }
        return [left, right, both](spotter::step_id step) {
            return both ? left(step) && right(step) : left(step) || right(step);
        };
    }
    [[nodiscard]] step_predicate mode() {
        for (spotter::mode const each : {spotter::mode::train, spotter::mode::eval, spotter::mode::predict}) {
            if (take(name_of(each))) {
                return take("}") ? [each](spotter::step_id step) { return step.mode == each; } : step_predicate{};
            }
        }
        return {};
    }
    [[nodiscard]] step_predicate counted(std::string_view word) {
        auto const read = numbers();
        if (!read) { return {}; }
        std::vector<std::uint64_t> const n = *read;
        if (word == "at{") {
            return [n](spotter::step_id step) { return std::find(n.begin(), n.end(), step.index) != n.end(); };
        }
        if (n.size() != (word == "between{" ? 2U : 1U)) { return {}; }
        if (word == "every{") {
            return [every = spotter::every{n[0]}](spotter::step_id step) { return every(step); };
        }
        if (word == "from{") {
            return [n](spotter::step_id step) { return step.index >= n[0]; };
        }
        if (word == "before{") {
            return [n](spotter::step_id step) { return step.index < n[0]; };
        }
        return [n](spotter::step_id step) { return step.index >= n[0] && step.index < n[1]; };
    }

    static constexpr int deepest = 256;  // that a plan's expressions are nested: a file may say anything
    std::string_view rest_;
    int depth_ = 0;
};

}  // namespace detail

// For `"grad/*", every{10}: l2` the steps at which it is due. Empty: unknown.
[[nodiscard]] inline step_predicate policy_of_sentence(std::string_view sentence) {
    std::size_t const end = sentence.rfind(": ");
    if (end == sentence.npos) { return {}; }
    sentence = sentence.substr(0, end);
    // The pattern comes first and may contain commas: takes the first remainder that is a complete policy.
    for (std::size_t cut = sentence.find(", "); cut != sentence.npos; cut = sentence.find(", ", cut + 1)) {
        if (step_predicate found = detail::policy_words{sentence.substr(cut + 2)}.whole()) { return found; }
    }
    return {};
}

}  // namespace spotter_tool
