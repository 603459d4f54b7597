// SPDX-License-Identifier: Apache-2.0
// The bodies of rule_reader.hpp.
#pragma once

#include <spotter/ext/json/rule_reader.hpp>
#include <spotter/response.hpp>

#include <algorithm>
#include <bit>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY result<dynamic_rule> json_rule_reader::read(json const& root) {
    std::vector<made_rule> all;
    for (auto const& [key, ignored] : root.items()) {
        if (key != "rules") { refuse_key(key, {"rules"}); }
    }
    auto const list = root.find("rules");
    if (list == root.end() || !list->is_array() || list->empty()) {
        refuse("rules", "must be a list of rules, and not empty");
    } else {
        each_of(*list, "rules", all);
    }
    if (why_) { return why_; }
    if (!plan_.whole()) { return {errc::out_of_memory, "no memory for the patterns of the rules"}; }
    store_->expressions = std::move(plan_);
    return either(all).rule;
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::refused_rule(std::string_view key, std::string_view what,
                                                                    errc code) noexcept {
    refuse(key, what, code);
    return std::nullopt;
}

SPOTTER_BODY json_rule_reader::made_rule json_rule_reader::either(std::vector<made_rule> const& all) {
    std::vector<dynamic_rule> rules;
    std::uint32_t depth = 0;
    for (made_rule const& each : all) {
        rules.push_back(each.rule);
        depth = (std::max)(depth, each.depth);
    }
    return {either_of(rules), depth + static_cast<std::uint32_t>(std::bit_width(all.size() - 1))};
}

SPOTTER_BODY void json_rule_reader::each_of(json const& list, std::string_view name, std::vector<made_rule>& into) {
    std::string const outer = subject_;
    for (std::size_t i = 0; i < list.size() && !why_; ++i) {
        std::string const place = std::string{name} + '[' + std::to_string(i) + ']';
        subject_ = outer.empty() ? place : outer + '.' + place;
        if (found it = one(list[i])) { into.push_back(*std::move(it)); }
    }
    subject_ = outer;
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::one(json const& it) {
    if (std::string const* const name = text_of(it)) { return built_in(*name, json::object()); }
    if (!it.is_object()) { return refused_rule("rule", "must be a name or an object"); }
    found made = form(it);
    auto const adaptors = it.find("adapt");
    if (!made || adaptors == it.end()) { return made; }
    if (!adaptors->is_array()) { return refused_rule("adapt", "must be a list, [{\"for_steps\": 3}, \"once\"]"); }
    for (json const& each : *adaptors) {
        if (made) { made = adapt(*made, each); }
    }
    return made;
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::form(json const& it) {
    if (auto const named = it.find("rule"); named != it.end()) {  // its parameters may have the name of another form
        std::string const* const name = text_of(*named);
        return name != nullptr ? built_in(*name, it) : refused_rule("rule", "must be the name of a rule");
    }
    for (auto const& [key, value] : it.items()) {
        if (key == "any" || key == "all" || key == "fraction") { return quantified(key, value, it); }
        if (key == stalled_over::name) { return series<stalled_over>(value, it); }
        if (key == rising_over::name) { return series<rising_over>(value, it); }
        if (key == unchanged_over::name) { return series<unchanged_over>(value, it); }
        if (key == spike_over::name) { return series<spike_over>(value, it); }
        if (key == "ratio_of" || key == "gap_of") { return pair(key, value, it); }
        if (key == "and" || key == "or" || key == "not") { return compound_rule(key, value, it); }
    }
    for (auto const& [key, ignored] : it.items()) {
        nearest_word const there{key,
                                 {"rule", "any", "all", "fraction", stalled_over::name, rising_over::name,
                                  unchanged_over::name, spike_over::name, "ratio_of", "gap_of", "and", "or", "not"}};
        if (!there.meant().empty()) { return refused_rule(key, there.sentence("no rule here")); }
    }
    return refused_rule("rule", "no rule here: give rule, any, all, fraction, stalled, rising, unchanged, spike, "
                                "ratio_of, gap_of, and, or, not (docs/settings.md)");
}

SPOTTER_BODY void json_rule_reader::refuse_unknown(std::string_view key, nearest_word const& there,
                                                   std::string_view what) {
    struct adaptor {
        std::string_view key, example;
    };
    static constexpr adaptor adaptors[] = {{"mode", R"({"only": {"during": "train"}})"},
                                           {"during", R"({"only": {"during": "train"}})"},
                                           {"only", R"({"only": {"every": 10}})"},
                                           {"severity", R"({"severity": "warning"})"},
                                           {"for_steps", R"({"for_steps": 3})"},
                                           {"cooldown", R"({"cooldown": 100})"},
                                           {"rearm", R"({"rearm": 10})"},
                                           {"named", R"({"named": "a name"})"},
                                           {"on", R"({"on": "stop"})"},
                                           {"once", R"("once")"}};
    for (adaptor const& each : adaptors) {
        if (each.key != key) { continue; }
        return refuse(key, std::string{what} + ": it is given in \"adapt\": [" + std::string{each.example} + ']');
    }
    refuse(key, there.sentence(what));
}

SPOTTER_BODY bool json_rule_reader::only_keys(json const& it, std::initializer_list<std::string_view> allowed) {
    for (auto const& [key, ignored] : it.items()) {
        if (key == "adapt" || std::find(allowed.begin(), allowed.end(), key) != allowed.end()) { continue; }
        nearest_word there{key, allowed};
        there.among("adapt");
        refuse_unknown(key, there, "unknown key");
    }
    return !why_;
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::built_in(std::string_view name, json const& it) {
    found made;
    bool known = false;
    nearest_word there{name};
    each_built_in_rule([&](auto rule) {
        there.among(rule.name);
        if (known || rule.name != name) { return; }
        known = true;
        made = with_parameters(rule, it);
    });
    each_pack([&](std::string_view its, auto const& pack) {
        there.among(its);
        if (known || its != name) { return; }
        known = true;
        if (only_keys(it, {"rule"})) { made = made_rule{to_dynamic(pack), depth_of_packs}; }
    });
    if (known) { return made; }
    std::string_view const none = "there is no rule or pack of this name";
    if (!there.meant().empty()) { return refused_rule(name, there.sentence(none)); }
    return refused_rule(name, std::string{none} + ": `spotter check --list` lists them");
}

SPOTTER_BODY std::string json_rule_reader::beside(std::string const& path) const {
    return folder_.empty() || path.starts_with('/') ? path : folder_ + '/' + path;
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::quantified(std::string_view how, json const& tensors,
                                                                  json const& it) {
    bool const share = how == "fraction";
    if (!(share ? only_keys(it, {how, "where", "is"}) : only_keys(it, {how, "where"}))) { return std::nullopt; }
    dynamic_pattern const of = which(tensors, how);
    auto const where = it.find("where");
    if (where == it.end()) { return refused_rule("where", "missing: of what, \"l2 > 1000\"?"); }
    dynamic_predicate const asked{predicate(*where)};
    if (how == "any") { return finish(any_rule<dynamic_pattern, dynamic_predicate>{{of, asked}}); }
    if (how == "all") { return finish(all_rule<dynamic_pattern, dynamic_predicate>{{of, asked}}); }
    bound const limit = is(it);
    return finish(fraction_rule<dynamic_pattern, dynamic_predicate>{{of, asked}, limit.how, limit.value});
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::pair(std::string_view how, json const& sides, json const& it) {
    if (!only_keys(it, {how, "is"})) { return std::nullopt; }
    if (!sides.is_array() || sides.size() != 2) {
        return refused_rule(how,
                            "takes two sides, [{\"latest\": \"loss\", \"of\": \"mean\", \"mode\": \"eval\"}, ...]");
    }
    latest_value<dynamic_pattern, statistic> const left = side(sides[0]), right = side(sides[1]);
    bound const limit = is(it);
    return finish(pair_rule<decltype(left), decltype(right)>{
        left, right, how == "ratio_of" ? pairing::ratio : pairing::gap, limit.how, limit.value});
}

SPOTTER_BODY latest_value<dynamic_pattern, statistic> json_rule_reader::side(json const& it) {
    latest_value<dynamic_pattern, statistic> made{{}, statistic{statistic_id::mean}};
    if (!it.is_object() || !it.contains("latest")) {
        refuse("latest", "each side is an object with latest, of and mode");
        return made;
    }
    for (auto const& [key, value] : it.items()) {
        if (key == "latest") {
            made.which = which(value, key);
        } else if (key == "of") {
            made.of = statistic_of(value);
        } else if (key == "mode") {
            made.any_mode = false;
            std::string_view const wanted = assign_parameter(value, made.within);
            if (!wanted.empty()) { refuse_value(key, value, wanted); }
        } else {
            refuse_key(key, {"latest", "of", "mode"});
        }
    }
    return made;
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::compound_rule(std::string_view how, json const& parts,
                                                                     json const& it) {
    if (!only_keys(it, {how})) { return std::nullopt; }
    if (how == "not") {
        found const inner = one(parts);
        if (!inner) { return std::nullopt; }
        return keep(not_rule<dynamic_rule>{inner->rule}, inner->depth);
    }
    std::vector<made_rule> all;
    if (!parts.is_array() || parts.empty()) { return refused_rule(how, "takes a list of rules that is not empty"); }
    if (how == "and" && parts.size() > 256) { return refused_rule(how, "takes 256 rules at most"); }
    each_of(parts, how, all);
    if (why_) { return std::nullopt; }
    if (how == "or") { return either(all); }
    found made = all[0];
    for (std::size_t i = 1; made && i < all.size(); ++i) {
        made = keep(both_rules<dynamic_rule, dynamic_rule>{made->rule, all[i].rule},
                    (std::max)(made->depth, all[i].depth));
    }
    return made;
}

SPOTTER_BODY json_rule_reader::bound json_rule_reader::is(json const& it) {
    auto const asked = it.find("is");
    std::string const* const text = asked != it.end() ? text_of(*asked) : nullptr;
    bound made;
    if (text == nullptr || !read_bound(*text, made.how, made.value)) {
        refuse("is", "compares with a number: \"> 0.5\", and so <, <=, >=");
    }
    return made;
}

// Of a word as it is shown, between quotes.
[[nodiscard]] SPOTTER_BODY text<232> no_statistic(std::string const& written) noexcept {
    nearest_word there{written.starts_with('"') ? std::string_view{written}.substr(1, written.size() - 2)
                                                : std::string_view{written}};
    each_statistic([&](statistic each) { there.among(each.name()); });
    return there.sentence(written + " is no statistic");
}

SPOTTER_BODY statistic json_rule_reader::statistic_of(json const& it) {
    statistic made{statistic_id::mean};
    std::string const* const text = text_of(it);
    if (text == nullptr || !read_statistic_name(*text, made)) { refuse("of", no_statistic(shown(it))); }
    return made;
}

SPOTTER_BODY predicate_node const* json_rule_reader::predicate(json const& it) {
    predicate_node made;
    if (std::string const* const text = text_of(it)) {
        std::size_t const cut = text->find_first_of("<>");
        std::string_view const left = std::string_view{*text}.substr(0, cut);
        bool const named = cut != text->npos && read_statistic_name(left, made.left);
        if (cut != text->npos && !named) {
            refuse("where", no_statistic('"' + std::string{trimmed(left).substr(0, 40)} + '"'));
        } else if (!named || !read_bound(std::string_view{*text}.substr(cut), made.how, made.limit)) {
            refuse("where", "\"" + text->substr(0, 60) + "\" compares no statistic with a number: \"l2 > 1000\"");
        }
    } else if (it.is_object() && it.size() == 1) {
        std::string const& key = it.begin().key();
        json const& value = it.begin().value();
        bool const several = key == "and" || key == "or";
        if (key == "not") {
            made.is = predicate_node::what::negated;
            made.first = predicate(value);
        } else if (several && value.is_array() && !value.empty() && value.size() <= 256) {
            predicate_node const* all = predicate(value[0]);
            for (std::size_t i = 1; !why_ && i < value.size(); ++i) {
                made.is = key == "and" ? predicate_node::what::both : predicate_node::what::either;
                made.first = all;
                made.second = predicate(value[i]);
                all = kept(made);
            }
            return all;
        } else {
            refuse("where", "takes {\"and\": [...]}, {\"or\": [...]} and {\"not\": ...}");
        }
    } else {
        refuse("where", "must be a comparison, \"l2 > 1000\", or one of {\"and\"} {\"or\"} {\"not\"}");
    }
    return kept(made);
}

SPOTTER_BODY predicate_node const* json_rule_reader::kept(predicate_node& made) {
    for (predicate_node const* const each : {made.first, made.second}) {
        if (each != nullptr) { made.depth = (std::max)(made.depth, each->depth + 1); }
    }
    if (made.depth > deepest) { refuse("where", "\"and\", \"or\" and \"not\" stand more than 256 deep in it"); }
    return &store_->predicates.emplace_back(made);
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::adapt(made_rule const& inner, json const& it) {
    if (it == "once") { return keep(inner.rule | once, inner.depth); }
    if (!it.is_object() || it.size() != 1) {
        if (std::string const* const word = text_of(it)) {
            nearest_word const there{*word, {"once"}};
            if (!there.meant().empty()) { return refused_rule("adapt", there.sentence(shown(it) + " is no adaptor")); }
        }
        return refused_rule("adapt", "each is \"once\", or one of {\"for_steps\"} {\"cooldown\"} {\"rearm\"} "
                                     "{\"only\"} {\"named\"} {\"severity\"} {\"on\"}");
    }
    std::string const& key = it.begin().key();
    json const& value = it.begin().value();
    if (key == "for_steps" || key == "cooldown" || key == "rearm") { return adapt_by_steps(inner, key, value); }
    if (key == "only") {
        return keep(inner.rule | only{dynamic_policy{&store_->expressions, policy(value, key)}}, inner.depth);
    }
    if (key == "named") {
        std::string const* const name = text_of(value);
        if (name == nullptr || name->empty()) { return refused_rule(key, "takes a name"); }
        return keep(inner.rule | named{store_->texts.emplace_back(*name)}, inner.depth);
    }
    if (key == "severity") {
        severity level{};
        std::string_view const wanted = assign_parameter(value, level);
        if (wanted.empty()) { return keep(inner.rule | level, inner.depth); }
        refuse_value(key, value, wanted);
        return std::nullopt;
    }
    if (key == "on") { return respond_by_each(inner, value.is_array() ? value : json::array({value})); }
    if (key == "once") { return refused_rule(key, "stands alone: \"adapt\": [\"once\"]"); }
    nearest_word const there{key, {"for_steps", "cooldown", "rearm", "only", "named", "severity", "on"}};
    return refused_rule(key, there.sentence("there is no such adaptor"));
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::adapt_by_steps(made_rule const& inner, std::string_view key,
                                                                      json const& value) {
    std::uint64_t steps = 0;
    if (!whole(value, steps) || steps == 0) {
        refuse_value(key, value, "takes a whole number of steps, from 1 on");
        return std::nullopt;
    }
    if (key == "for_steps") { return keep(inner.rule | for_steps{steps}, inner.depth); }
    return key == "cooldown" ? keep(inner.rule | cooldown{steps}, inner.depth)
                             : keep(inner.rule | rearm{steps}, inner.depth);
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::respond_by_each(made_rule const& inner, json const& list) {
    found made = inner;
    for (json const& each : list) {
        if (made) { made = respond(*made, each); }
    }
    return made;
}

SPOTTER_BODY json_rule_reader::found json_rule_reader::respond(made_rule const& inner, json const& it) {
    if (it == "proceed") { return keep(on(inner.rule, proceed), inner.depth); }
    if (it == "skip_update") { return keep(on(inner.rule, skip_update), inner.depth); }
    if (it == "stop") { return keep(on(inner.rule, stop), inner.depth); }
    if (it == "print") { return keep(on(inner.rule, print_finding{}), inner.depth); }
    std::string const* const text = it.is_object() && it.size() == 1 ? text_of(it.begin().value()) : nullptr;
    if (text != nullptr && !text->empty()) {
        bool const is_path = it.begin().key() == "append_lines";
        std::string const& kept = store_->texts.emplace_back(is_path ? beside(*text) : *text);
        if (it.begin().key() == "append_lines") { return keep(on(inner.rule, append_lines{kept}), inner.depth); }
        if (it.begin().key() == "run_command") { return keep(on(inner.rule, run_command{kept}), inner.depth); }
    }
    bool const keyed = it.is_object() && it.size() == 1;
    if (std::string const* const word = keyed ? &it.begin().key() : text_of(it)) {
        nearest_word const there = keyed ? nearest_word{*word, {"append_lines", "run_command"}}
                                         : nearest_word{*word, {"proceed", "skip_update", "stop", "print"}};
        if (!there.meant().empty() && there.meant() != *word) {
            return refused_rule("on", there.sentence('"' + word->substr(0, 40) + "\" is no response"));
        }
    }
    return refused_rule("on", "takes \"proceed\", \"skip_update\", \"stop\", \"print\", {\"append_lines\": path}, "
                              "{\"run_command\": command}, or a list of them");
}

}  // namespace spotter::inline SPOTTER_ABI::detail
