// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json/rules.hpp: rules as JSON.
#pragma once

#include <spotter/ext/json/built_in_rules.hpp>
#include <spotter/ext/json/expression_reader.hpp>
#include <spotter/ext/json/rule_parameter.hpp>
#include <spotter/rule/dynamic_rule.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

class json_rule_reader : json_expression_reader {
public:
    using json_expression_reader::json;

    // Paths in the file are relative to `folder`.
    explicit json_rule_reader(std::string_view folder) : folder_{folder} {}

    [[nodiscard]] result<dynamic_rule> read(json const& root);

private:
    // A rule, and its nesting depth including itself: each level takes a stack frame at every event.
    struct made_rule {
        dynamic_rule rule;
        std::uint32_t depth = 1;
    };
    using found = std::optional<made_rule>;
    static constexpr std::uint32_t deepest = 256;

    found refused_rule(std::string_view key, std::string_view what, errc code = errc::bad_config) noexcept;
    template <rule Rule>
    [[nodiscard]] found keep(Rule const& it) const {
        return made_rule{dynamic_rule{it, std::shared_ptr<rule_store const>{store_}}};
    }
    // A rule that is composed of others, which are `below` deep.
    template <rule Rule>
    [[nodiscard]] found keep(Rule const& it, std::uint32_t below) {
        if (below >= deepest) { return refused_rule("rule", "rules, adaptors and responses stand more than 256 deep"); }
        found made = keep(it);
        made->depth = below + 1;
        return made;
    }
    [[nodiscard]] static made_rule either(std::vector<made_rule> const& all);

    void each_of(json const& list, std::string_view name, std::vector<made_rule>& into);

    [[nodiscard]] found one(json const& it);
    [[nodiscard]] found form(json const& it);
    // An adaptor, or `mode`, is named as what it is.
    void refuse_unknown(std::string_view key, nearest_word const& there, std::string_view what);
    // Whether `it` has no other keys than these and `adapt`.
    [[nodiscard]] bool only_keys(json const& it, std::initializer_list<std::string_view> allowed);

    // Rules of the catalogue.

    [[nodiscard]] found built_in(std::string_view name, json const& it);
    template <class Rule>
    [[nodiscard]] found with_parameters(Rule rule, json const& it) {
        if (auto const preset = it.find("defaults"); preset != it.end()) {
            if constexpr (requires { Rule::sagemaker_defaults(); }) {
                if (*preset != "sagemaker") { return refused_rule("defaults", "may be \"sagemaker\""); }
                rule = Rule::sagemaker_defaults();
            } else {
                return refused_rule("defaults", "this rule has no other defaults");
            }
        }
        for (auto const& [key, value] : it.items()) {
            if (key != "rule" && key != "adapt" && key != "defaults") { set(rule, key, value); }
        }
        if (why_) { return std::nullopt; }
        return keep(rule);
    }
    template <class Aggregate>
    void set(Aggregate& into, std::string const& key, json const& value) {
        bool known = false;
        nearest_word there{key};
        each_member(into, [&](std::string_view name, auto& member) {
            there.among(name);
            if (name != key) { return; }
            known = true;
            assign(key, value, member);
        });
        if (!known) { refuse_unknown(key, there, "unknown parameter"); }
    }
    template <class Member>
    void assign(std::string const& key, json const& value, Member& into) {
        if constexpr (std::same_as<Member, selector>) {
            store_->patterns.push_back({&store_->expressions, pattern(value, key)});
            into = selector{&store_->patterns.back(), [](void const* which, tensor_info const& tensor) {
                                return (*static_cast<dynamic_pattern const*>(which))(tensor);
                            }};
        } else if constexpr (std::same_as<Member, healthy_table const*>) {
            std::string const* const path = text_of(value);
            if (path == nullptr) { return refuse_value(key, value, "must be the path of an envelope (save_envelope)"); }
            result<envelope> loaded = load_envelope(beside(*path));
            if (!loaded) { return refuse(key, loaded.error().what.view(), loaded.error().code); }
            into = &store_->envelopes.emplace_back(std::move(*loaded));
        } else if (std::string_view const wanted = assign_parameter(value, into); !wanted.empty()) {
            refuse_value(key, value, wanted);
        }
    }
    [[nodiscard]] std::string beside(std::string const& path) const;

    // Composed rules.

    [[nodiscard]] dynamic_pattern which(json const& it, std::string_view key) {
        return {&store_->expressions, pattern(it, key)};
    }

    [[nodiscard]] found quantified(std::string_view how, json const& tensors, json const& it);
    template <class Kind>
    [[nodiscard]] found series(json const& tensors, json const& it) {
        series_rule<dynamic_pattern, statistic, Kind> made{which(tensors, Kind::name), statistic{statistic_id::mean},
                                                           Kind{}};
        for (auto const& [key, value] : it.items()) {
            if (key == "of") {
                made.of = statistic_of(value);
            } else if (key != Kind::name && key != "adapt") {
                set(made.over, key, value);
            }
        }
        return finish(made);
    }
    [[nodiscard]] found pair(std::string_view how, json const& sides, json const& it);
    [[nodiscard]] latest_value<dynamic_pattern, statistic> side(json const& it);
    [[nodiscard]] found compound_rule(std::string_view how, json const& parts, json const& it);
    template <rule Rule>
    [[nodiscard]] found finish(Rule const& it) const {
        return why_ ? found{} : keep(it);
    }

    // Predicates.

    struct bound {
        relation how = relation::none;
        double value = 0;
    };
    // "> 0.5" under the key `is`.
    [[nodiscard]] bound is(json const& it);
    [[nodiscard]] statistic statistic_of(json const& it);
    [[nodiscard]] predicate_node const* predicate(json const& it);
    [[nodiscard]] predicate_node const* kept(predicate_node& made);

    // Adaptors and responses.

    [[nodiscard]] found adapt(made_rule const& inner, json const& it);
    [[nodiscard]] found adapt_by_steps(made_rule const& inner, std::string_view key, json const& value);
    [[nodiscard]] found respond_by_each(made_rule const& inner, json const& list);
    [[nodiscard]] found respond(made_rule const& inner, json const& it);

    static constexpr std::uint32_t depth_of_packs = 16;  // limit of the nesting depth of packs

    std::string folder_;
    std::shared_ptr<rule_store> store_ = std::make_shared<rule_store>();
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/ext/json/rule_reader.ipp>
#endif
