// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp: plans in spotter's own form.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/ext/json/expression_reader.hpp>
#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/plan/write_json.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Reads spotter's own form.
class json_plan_reader : json_expression_reader {
public:
    using json_expression_reader::json;

    [[nodiscard]] result<dynamic_plan> read(json const& root);

private:
    void fallback(json const& it);
    void collections(json const& root);
    void collection(json const& it);
    void options_of_run(json const& it);
    void option_of_run(run_option which, json const& value);

    // What a default collection keeps with the file's fallback.
    template <class Policy>
    [[nodiscard]] part in_place_of(Policy const& it) noexcept {
        return plan_.keep(it);
    }
    template <class Policy>
    [[nodiscard]] part in_place_of(by_default<Policy> const& it) noexcept {
        return has_fallback_when_ ? fallback_when_ : plan_.keep(it);
    }
    template <class Left, class Right>
    [[nodiscard]] part in_place_of(both_expressions<Left, Right> const& it) noexcept {
        part const left = in_place_of(it.left);
        return plan_.join(asked::both, left, in_place_of(it.right));
    }
    [[nodiscard]] bool default_of(std::string_view name, part& which, part& when, stats_mask& what) noexcept;

    [[nodiscard]] stats_mask contents(json const& it);
    [[nodiscard]] static stats_mask content_called(std::string_view name) noexcept;
    // Reads {"delta": 8}.
    [[nodiscard]] static stats_mask change_of(json const& it);

    part fallback_when_{};
    bool has_fallback_when_ = false;
    stats_mask fallback_what_ = stats_mask::payload;
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/plan/defaults.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY result<dynamic_plan> json_plan_reader::read(json const& root) {
    for (auto const& [key, ignored] : root.items()) {
        if (key != "collections" && key != "fallback" && key != "dry_run" && key != "options") {
            refuse_key(key, {"collections", "fallback", "dry_run", "options"});
        }
    }
    if (auto const it = root.find("dry_run"); it != root.end()) {
        if (!it->is_boolean()) { refuse("dry_run", "must be true or false"); }
        plan_.dry_run = *it == true;
    }
    if (auto const it = root.find("options"); it != root.end()) { options_of_run(*it); }
    if (auto const it = root.find("fallback"); it != root.end()) { fallback(*it); }
    collections(root);
    if (!why_ && !plan_.whole()) { refuse("collections", "a plan holds at most 64 collections"); }
    if (why_) { return why_; }
    return std::move(plan_);
}

SPOTTER_BODY void json_plan_reader::collections(json const& root) {
    auto const list = root.find("collections");
    if (list == root.end() || !list->is_array()) {
        return refuse("collections", "must be a list of collections (a file of SageMaker Debugger has HookParameters "
                                     "or CollectionConfigurations instead)");
    }
    for (json const& each : *list) {
        if (!why_ && plan_.whole()) { collection(each); }
    }
}

SPOTTER_BODY void json_plan_reader::fallback(json const& it) {
    subject_ = "fallback";
    if (!it.is_object()) { return refuse("fallback", "must be an object with when, what or both"); }
    for (auto const& [key, value] : it.items()) {
        if (key == "when") {
            fallback_when_ = policy(value, key);
            has_fallback_when_ = true;
        } else if (key == "what") {
            fallback_what_ = contents(value);
        } else {
            refuse_key(key, {"when", "what"});
        }
    }
    subject_.clear();
}

// A number, or with a unit where the option has one: 65536, "64 KiB".
[[nodiscard]] SPOTTER_BODY bool read_option_number(nlohmann::json const& it, bool is_bytes, std::int64_t& number) {
    if (auto const* const text = it.get_ptr<std::string const*>(); text != nullptr && is_bytes) {
        std::uint64_t count = 0;
        auto const read = std::from_chars(text->data(), text->data() + text->size(), count);
        std::string_view unit{read.ptr, static_cast<std::size_t>(text->data() + text->size() - read.ptr)};
        if (unit.starts_with(' ')) { unit.remove_prefix(1); }
        unsigned const shift = unit == "KiB" ? 10 : unit == "MiB" ? 20 : unit == "GiB" ? 30 : unit == "TiB" ? 40 : 0;
        if (read.ec != std::errc{} || shift == 0 || count > (std::uint64_t{1} << 62U >> shift)) { return false; }
        number = static_cast<std::int64_t>(count << shift);
        return true;
    }
    if (!it.is_number_integer()) { return false; }
    if (it.is_number_unsigned() && it.get<std::uint64_t>() > std::uint64_t{1} << 62U) { return false; }
    number = it.get<std::int64_t>();
    return true;
}

SPOTTER_BODY void json_plan_reader::options_of_run(json const& it) {
    if (!it.is_object()) { return refuse("options", "must be an object: {\"ring_bytes\": \"256 MiB\"}"); }
    subject_ = "options";
    for (auto const& [key, value] : it.items()) {
        std::size_t found = 0;
        while (found < run_option_count && run_options[found].name != key) { ++found; }
        if (found < run_option_count) {
            option_of_run(static_cast<run_option>(found), value);
        } else if (key == "dry_run") {
            refuse(key, "stands beside options, not among them");
        } else if (key == "drain" || key == "instant" || key == "worker" || key == "clock" || key == "memory") {
            refuse(key, "only the program can know it: options{." + key + " = ...}");
        } else {
            nearest_word there{key};
            for (run_option_info const& each : run_options) { there.among(each.name); }
            refuse(key.substr(0, 20), there.sentence("unknown key"));
        }
    }
    subject_.clear();
}

SPOTTER_BODY void json_plan_reader::option_of_run(run_option which, json const& value) {
    run_option_info const& info = run_options[static_cast<std::size_t>(which)];
    if (info.words[0].empty()) {
        std::int64_t number = 0;
        if (read_option_number(value, info.is_bytes, number) && number >= info.least && number <= info.most) {
            return plan_.run.set(which, number);
        }
        return refuse_value(info.name, value,
                            "must be a whole number" + std::string{info.is_bytes ? " of bytes" : ""} + ", " +
                                std::to_string(info.least) + " to " + std::to_string(info.most) +
                                (info.is_bytes ? ", or one with KiB, MiB, GiB or TiB: \"256 MiB\"" : ""));
    }
    std::string const* const text = text_of(value);
    nearest_word there{text != nullptr ? std::string_view{*text} : std::string_view{}};
    for (std::size_t i = 0; i < std::size(info.words) && !info.words[i].empty(); ++i) {
        if (text != nullptr && *text == info.words[i]) { return plan_.run.set(which, static_cast<std::int64_t>(i)); }
        there.among(info.words[i]);
    }
    refuse(info.name, there.sentence(shown(value) + " is no choice"));
}

// Calls use(collection) for each that has a name of its own.
template <class Use>
void each_default(Use const& use) noexcept {
    auto const all = [&](auto const&... each) { (use(each), ...); };
    namespace d = defaults;
    all(d::losses, d::metrics, d::weights, d::biases, d::gradients, d::optimizer, d::inputs, d::outputs, d::all,
        d::boosted::feature_importance, d::boosted::average_shap, d::boosted::full_shap, d::boosted::trees,
        d::boosted::hyperparameters, d::boosted::predictions, d::boosted::labels);
}

SPOTTER_BODY void json_plan_reader::collection(json const& it) {
    subject_.clear();
    if (!it.is_object()) { return refuse("collections", "each must be an object with name, pattern, when, what"); }
    auto const named = it.find("name");
    if (named == it.end() || text_of(*named) == nullptr) { return refuse("name", "each collection needs one, a text"); }
    std::string const name = *text_of(*named);
    subject_ = "collection \"" + name.substr(0, 40) + '"';
    part which{}, when = has_fallback_when_ ? fallback_when_ : plan_.keep(always{});
    stats_mask what = fallback_what_;
    for (auto const& [key, ignored] : it.items()) {
        if (key != "name" && key != "pattern" && key != "when" && key != "what") {
            refuse_key(key, {"name", "pattern", "when", "what"});
        }
    }
    if (it.find("pattern") == it.end() && !default_of(name, which, when, what)) {
        nearest_word there{name};
        each_default([&](auto const& each) { there.among(each.name); });
        refuse("pattern", there.sentence("missing (which tensors?), and this is the name of no default collection"));
    }
    for (auto const& [key, value] : it.items()) {
        if (key == "pattern") {
            which = pattern(value, key);
        } else if (key == "when") {
            when = policy(value, key);
        } else if (key == "what") {
            what = contents(value);
        }
    }
    if (!why_) { plan_.add(name, which, when, what); }
    subject_.clear();
}

SPOTTER_BODY bool json_plan_reader::default_of(std::string_view name, part& which, part& when,
                                               stats_mask& what) noexcept {
    bool found = false;
    each_default([&](auto const& it) {
        if (found || it.name != name) { return; }
        found = true;
        which = plan_.keep(it.which);
        when = in_place_of(it.when);
        if (it.what_is_said) { what = it.what; }
    });
    return found;
}

SPOTTER_BODY stats_mask json_plan_reader::contents(json const& it) {
    stats_mask all = stats_mask::none;
    auto const take = [&](json const& item) {
        std::string const* const text = text_of(item);
        stats_mask const found = text != nullptr ? content_called(*text) : change_of(item);
        if (!any(found)) {
            nearest_word there{text != nullptr ? std::string_view{*text} : std::string_view{}};
            for (named_terms const& each : other_contents) { there.among(each.name); }
            there.among("{\"delta\": 1 to 64}");
            each_statistic([&](statistic each) { there.among(each.name()); });
            refuse("what", there.sentence(shown(item) + " is nothing that is kept"));
        }
        all |= found;
    };
    if (!it.is_array()) { take(it); }
    if (it.is_array()) {
        for (json const& each : it) { take(each); }
    }
    return all;
}

SPOTTER_BODY stats_mask json_plan_reader::content_called(std::string_view name) noexcept {
    stats_mask found = name == "delta" ? stats_mask::change : stats_mask::none;  // the former name
    for (named_terms const& each : other_contents) {
        if (name == each.name) { found = each.what; }
    }
    each_statistic([&](statistic each) {
        if (each.is_called(name)) { found = stats(each); }
    });
    return found;
}

SPOTTER_BODY stats_mask json_plan_reader::change_of(json const& it) {
    bool const one = it.is_object() && it.size() == 1;
    if (!one || !(it.contains("delta") || it.contains("chain"))) {
        return stats_mask::none;
    }  // "chain" is the former name
    std::uint64_t chain = 0;
    bool const fits = whole(it.front(), chain) && chain > 0 && chain <= delta::longest;
    return fits ? stats_mask{delta{static_cast<unsigned>(chain)}} : stats_mask::none;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
