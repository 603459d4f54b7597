// SPDX-License-Identifier: Apache-2.0
// Command line: the rules of --rules. The only file that compiles the whole catalogue.
#include "rules_argument.hpp"
#include "nearest.hpp"

#include <spotter/ext/json/rules.hpp>
#include <spotter/trial/environment_lines.hpp>

#include <algorithm>

namespace spotter_tool {

namespace {

using namespace spotter;

// A parameter's default as in a rules file; null where a file cannot express it, such as selection by a function.
template <class Value>
[[nodiscard]] json default_json(Value const& value) {
    if constexpr (std::is_array_v<Value>) {
        json all = json::array();
        for (auto const& each : value) { all.push_back(each); }
        return all;
    } else if constexpr (std::same_as<Value, double>) {
        return number(value);
    } else if constexpr (std::is_arithmetic_v<Value>) {
        return value;
    } else if constexpr (std::same_as<Value, dtype>) {
        return std::string{name_of(value)};
    } else if constexpr (std::same_as<Value, similar_across_runs::expected>) {
        return value == similar_across_runs::expected::same ? "same" : "different";
    } else if constexpr (std::same_as<Value, selector>) {
        return value.shown().empty() ? json() : json(std::string{value.shown()});
    } else {
        return {};
    }
}

// Why a rule that has seen nothing could not judge.
template <class Rule>
[[nodiscard]] std::string_view silence_of(Rule const& rule) {
    if constexpr (requires { rule.silence(); }) {
        return rule.silence();
    } else if constexpr (requires(typename Rule::state const& nothing) { rule.silence(nothing); }) {
        return rule.silence(typename Rule::state{});
    } else {
        return {};
    }
}

// The parameters that have to be given: what is compared with, and what the rule itself says that it lacks, one after
// the other.
template <class Rule>
[[nodiscard]] json required_of(Rule rule) {
    constexpr std::string_view lack = "parameter ";
    json names = json::array();
    spotter::detail::each_member(rule, [&](std::string_view its, auto const& value) {
        if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(value)>>) {  // what it compares with
            if (value == nullptr) { names.push_back(std::string{its}); }
        }
    });
    for (bool more = true; more;) {
        more = false;
        std::string_view const why = silence_of(rule);
        if (!why.starts_with(lack) || why.find(" not set") == why.npos) { break; }
        std::string const name{why.substr(lack.size(), why.find(' ', lack.size()) - lack.size())};
        spotter::detail::each_member(rule, [&](std::string_view its, auto& value) {
            if (its != name || std::find(names.begin(), names.end(), json(name)) != names.end()) { return; }
            names.push_back(name);
            using type = std::remove_reference_t<decltype(value)>;
            if constexpr (std::is_arithmetic_v<type>) { value = static_cast<type>(names.size()), more = true; }
        });
    }
    return names;
}

}  // namespace

result<dynamic_rule> read_rules(std::vector<std::string> const& words) {
    std::vector<dynamic_rule> all;
    for (std::string const& each : words.empty() ? std::vector<std::string>{"supervised"} : words) {
        bool const is_file = each.ends_with(".json");
        result<dynamic_rule> read = is_file ? load_rules(each) : rule_named(each);
        if (!read && !is_file) {
            std::vector<std::string> const known = rule_words();
            if (std::find(known.begin(), known.end(), each) != known.end()) { return read.error(); }
            error why{errc::bad_config, "there is no rule or pack \""};
            why.what << std::string_view{each}.substr(0, 60) << "\": ";
            if (auto const meant = nearest(each, known)) { why.what << "did you mean " << *meant << "? "; }
            why.what << "`spotter check --list` lists them, and the name of a file ends in .json";
            return why;
        }
        if (!read) { return read.error(); }
        all.push_back(std::move(*read));
    }
    return either_of(all);
}

std::string packs_of_run(trial const& run) {
    std::string packs;
    spotter::detail::each_environment_line(run.environment(), [&](std::string_view key, std::string_view value) {
        if (key == "packs") { packs = value; }
    });
    return packs;
}

dynamic_rule rules_for(trial const& run, std::vector<std::string> const& words, dynamic_rule const& given) {
    if (!words.empty()) { return given; }
    std::string const packs = packs_of_run(run);
    std::vector<dynamic_rule> all;
    for (std::string_view rest = packs; !rest.empty();) {
        std::size_t const end = (std::min)(rest.find(' '), rest.size());
        // unknown packs, of a newer library, are skipped
        if (auto const pack = rule_named(rest.substr(0, end))) { all.push_back(*pack); }
        rest.remove_prefix((std::min)(end + 1, rest.size()));
    }
    return all.empty() ? given : either_of(all);
}

dynamic_rule against_envelope(dynamic_rule const& rules, std::shared_ptr<envelope const> const& healthy) {
    return dynamic_rule{either_rule<dynamic_rule, dynamic_rule>{
        rules, dynamic_rule{outside_envelope{.healthy = healthy.get()} | rearm{10}, healthy}}};
}

std::vector<std::string> rule_words() {
    std::vector<std::string> words;
    spotter::detail::each_pack([&](std::string_view name, auto const&) { words.emplace_back(name); });
    spotter::detail::each_built_in_rule([&](auto rule) { words.emplace_back(rule.name); });
    return words;
}

json rules_json() {
    json rules = json::array(), packs = json::array();
    spotter::detail::each_built_in_rule([&](auto rule) {
        json parameters = json::object();
        spotter::detail::each_member(rule, [&](std::string_view name, auto const& value) {
            parameters[std::string{name}] = default_json(value);
        });
        rules.push_back(
            {{"rule", std::string{rule.name}}, {"parameters", parameters}, {"required", required_of(rule)}});
    });
    spotter::detail::each_pack([&](std::string_view name, auto const&) { packs.push_back(std::string{name}); });
    return {{"rules", rules}, {"packs", packs}};
}

std::string rules_of_feature(std::uint64_t key) {
    std::string names;
    spotter::detail::each_built_in_rule([&](auto rule) {
        using Rule = decltype(rule);
        bool its = false;
        if constexpr (requires { rule.feature_key(); }) {
            its = rule.feature_key() == key;
        } else if constexpr (requires(typename Rule::state& state, tensor_info const& tensor) {
                                 rule.feature_key(state, tensor);
                             }) {
            // Once as labels, and once as predictions.
            typename Rule::state labels{}, predictions{};
            tensor_info tensor{};
            tensor.id = 0;
            bool known = true;  // false: out of memory
            if constexpr (requires { predictions.step.declare(tensor, false, true); }) {
                known = predictions.step.declare(tensor, false, true);
            } else if constexpr (requires { predictions.parts.declare(tensor, false, true); }) {
                known = predictions.parts.declare(tensor, false, true);
            }
            its = rule.feature_key(labels, tensor) == key || (known && rule.feature_key(predictions, tensor) == key);
        }
        if (its) { names += (names.empty() ? "" : ", ") + std::string{rule.name}; }
    });
    return names;
}

std::string rules_text() {
    json const all = rules_json();
    std::string text = "packs:";
    for (json const& each : all["packs"]) { text += ' ' + each.get<std::string>(); }
    text += "\n\n";
    for (json const& each : all["rules"]) {
        text += each["rule"].get<std::string>() + '\n';
        for (auto const& [name, value] : each["parameters"].items()) {
            json const& required = each["required"];
            bool const is_required = std::find(required.begin(), required.end(), json(name)) != required.end();
            text += fmt::format("  {:<22} {}\n", name,
                                is_required       ? "has to be given"
                                : value.is_null() ? "its own (docs/rules.md)"
                                                  : value.dump());
        }
    }
    return text;
}

}  // namespace spotter_tool
