// SPDX-License-Identifier: Apache-2.0
// The bodies of smdebug.hpp.
#pragma once

#include <spotter/core/nearest_word.hpp>
#include <spotter/plan/smdebug.hpp>

#include <algorithm>
#include <iterator>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY result<dynamic_plan> smdebug_reader::read() noexcept {
    if (collections_.size() > dynamic_plan::limit) { return too_many(); }
    inspect(hook_);
    for (setting_group const& each : collections_) { inspect(each); }
    for (std::size_t i = 0; i < collections_.size(); ++i) {
        if (is_last_of_its_name(i)) { add(collections_[i]); }
    }
    if (setting const* const list = find(hook_, {}, "include_collections")) {
        each_item(list->value, false, [&](std::string_view name) {
            bool const known = std::any_of(std::begin(smdebug_defaults), std::end(smdebug_defaults),
                                           [=](smdebug_default const& each) { return each.name == name; });
            if (!known && !is_configured(name)) {
                nearest_word there{name};
                for (smdebug_default const& each : smdebug_defaults) { there.among(each.name); }
                for (setting_group const& each : collections_) { there.among(each.name); }
                refuse(hook_, "include_collections", name, there.told("is no default collection, nor one of these"));
            }
            if (!is_configured(name)) { add({name, {}}); }
            return !why_ && plan_.whole();
        });
    }
    if (find(hook_, {}, "include_regex") != nullptr && !is_configured("default")) { add({"default", {}}); }
    if (is_true(find(hook_, {}, "save_all")) && !is_configured("all")) { add({"all", {}}); }
    for (std::string_view name : {"losses", "metrics"}) {
        if (!is_configured(name)) { add({name, {}}); }
    }
    if (!why_ && !plan_.whole()) { return too_many(); }
    if (why_) { return why_; }
    plan_.dry_run = is_true(find(hook_, {}, "dry_run"));
    return std::move(plan_);
}

SPOTTER_BODY error smdebug_reader::too_many() noexcept {
    return {errc::bad_config, "CollectionConfigurations: a plan holds at most 64 collections"};
}

SPOTTER_BODY void smdebug_reader::refuse(setting_group const& group, std::string_view key, std::string_view value,
                                         std::string_view what, errc code) noexcept {
    if (why_) { return; }
    why_.code = code;
    why_.what << key << " of ";
    if (&group == &hook_) {
        why_.what << "HookParameters: ";
    } else {
        why_.what << "collection \"" << group.name.substr(0, 40) << "\": ";
    }
    if (!value.empty()) { why_.what << '"' << value.substr(0, 48) << "\" "; }
    why_.what << what;
}

SPOTTER_BODY void smdebug_reader::inspect(setting_group const& group) noexcept {
    for (setting const& each : group.settings) {
        std::string_view const key = each.key;
        std::size_t const dot = key.find('.');
        std::string_view const prefix = dot == key.npos ? std::string_view{} : key.substr(0, dot);
        std::string_view const name = dot == key.npos ? key : key.substr(dot + 1);
        smdebug_key const* known = nullptr;
        for (smdebug_key const& candidate : smdebug_keys) {
            if (candidate.name == name && (&group == &hook_ ? candidate.of_hook : candidate.of_collection)) {
                known = &candidate;
            }
        }
        // "global." is smdebug's mode for steps without one; here every step has a mode, so it sets nothing.
        if (dot != key.npos && prefix != "train" && prefix != "eval" && prefix != "predict" && prefix != "global") {
            return refuse(group, key, prefix,
                          nearest_word{prefix, {"train", "eval", "predict", "global"}}.told("is no mode"));
        }
        if (known == nullptr) {
            nearest_word there{name};
            for (smdebug_key const& one : smdebug_keys) {
                if (&group == &hook_ ? one.of_hook : one.of_collection) { there.among(one.name); }
            }
            return refuse(group, key, {}, there.told("unknown key"));
        }
        if (dot != key.npos && !known->by_mode) {
            return refuse(group, key, {}, "takes no mode; only save_interval, start_step, end_step and save_steps do");
        }
        inspect(group, each, known->what);
    }
}

SPOTTER_BODY void smdebug_reader::inspect(setting_group const& group, setting const& it, takes what) noexcept {
    std::uint64_t number = 0;
    bool const plain = it.kind == setting_kind::text || it.kind == setting_kind::number;
    bool const listed = it.kind == setting_kind::text || it.kind == setting_kind::list;
    std::string_view const shown = it.value.empty() ? std::string_view{" "} : it.value;
    switch (what) {
        case takes::interval:
            if (!plain || !read_whole(it.value, number) || number == 0) {
                refuse(group, it.key, shown, "is no interval; allowed: one whole number of steps, from 1 on");
            }
            return;
        case takes::step:
            if (!plain || !read_whole(it.value, number)) {
                refuse(group, it.key, shown, "is no step; allowed: one whole number, from 0 on");
            }
            return;
        case takes::steps:
            if (it.kind != setting_kind::number && !listed) {
                refuse(group, it.key, shown, "is no list of steps; allowed: \"0,10,20\" or [0, 10, 20]");
            }
            each_item(it.value, false, [&, count = std::size_t{0}](std::string_view item) mutable {
                if (!read_whole(item, number)) {
                    refuse(group, it.key, item, "is no step; allowed: whole numbers from 0 on, separated by commas");
                }
                if (++count > most_steps) { refuse(group, it.key, {}, "a list holds 65536 steps at most"); }
                return !why_;
            });
            return;
        case takes::expressions:
            if (!listed) {
                refuse(group, it.key, shown, "is no text; allowed: regular expressions, separated by commas");
            }
            if (expressions_ == nullptr) {
                refuse(group, it.key, shown,
                       "regular expressions need a program built with exceptions; use spotter's own form with a glob");
            }
            each_item(it.value, true, [&](std::string_view item) {
                if (why_) { return false; }
                if (pattern_fault const bad = expressions_->fault(item); !bad.empty()) {
                    text<160> told{"is a malformed regular expression (ECMAScript)"};
                    if (!bad.why.empty()) { told << "; at " << bad.at << ": " << bad.why; }
                    refuse(group, it.key, item, told.view(), errc::bad_pattern);
                }
                return !why_;
            });
            return;
        case takes::reductions:
            if (!listed) {
                refuse(group, it.key, shown, "is no text; allowed: names of reductions, separated by commas");
            }
            each_item(it.value, false, [&](std::string_view item) {
                terms ignored = terms::none;
                if (!read_reduction(item, ignored)) {
                    refuse(group, it.key, item,
                           nearest_word{item,
                                        {"min", "max", "mean", "std", "variance", "sum", "prod", "l1_norm", "l2_norm",
                                         "abs_min", "abs_max", "abs_mean", "abs_std", "abs_variance", "abs_sum",
                                         "abs_prod", "abs_l1_norm", "abs_l2_norm"}}
                               .told("is no reduction"));
                }
                return !why_;
            });
            return;
        case takes::truth:
            if (it.kind != setting_kind::boolean &&
                !(it.kind == setting_kind::text &&
                  (it.value == "true" || it.value == "True" || it.value == "false" || it.value == "False"))) {
                refuse(group, it.key, shown, "is neither true nor false");
            }
            return;
        case takes::word:
            if (it.kind != setting_kind::text) { refuse(group, it.key, shown, "is no text"); }
            return;
        case takes::names:
            if (!listed) {
                refuse(group, it.key, shown, "is no text; allowed: names of collections, separated by commas");
            }
            return;
    }
}

SPOTTER_BODY setting const* smdebug_reader::find(setting_group const& group, std::string_view prefix,
                                                 std::string_view name) noexcept {
    for (setting const& each : group.settings) {
        bool const found = prefix.empty()
                               ? each.key == name
                               : each.key.size() == prefix.size() + 1 + name.size() && each.key.starts_with(prefix) &&
                                     each.key[prefix.size()] == '.' && each.key.ends_with(name);
        if (found) { return &each; }
    }
    return nullptr;
}

SPOTTER_BODY bool smdebug_reader::is_true(setting const* it) noexcept {
    return it != nullptr && (it->value == "true" || it->value == "True");
}

SPOTTER_BODY bool smdebug_reader::is_configured(std::string_view name) const noexcept {
    for (setting_group const& each : collections_) {
        if (each.name == name) { return true; }
    }
    return false;
}

SPOTTER_BODY bool smdebug_reader::is_last_of_its_name(std::size_t which) const noexcept {
    for (setting_group const& later : collections_.subspan(which + 1)) {
        if (later.name == collections_[which].name) { return false; }
    }
    return true;
}

SPOTTER_BODY setting const* smdebug_reader::own(setting_group const& group, std::string_view name) const noexcept {
    setting const* found = find(group, {}, name);
    for (std::size_t i = collections_.size(); found == nullptr && i > 0; --i) {
        if (collections_[i - 1].name == group.name) { found = find(collections_[i - 1], {}, name); }
    }
    return found;
}

SPOTTER_BODY setting const* smdebug_reader::inherited(setting_group const& group, bool from_hook, std::string_view mode,
                                                      std::string_view name) const noexcept {
    for (setting_group const* each : {&group, &hook_}) {
        if (each == &hook_ && !from_hook) { break; }
        if (!mode.empty()) {
            if (setting const* const found = find(*each, mode, name)) { return found; }
        }
        if (setting const* const found = find(*each, {}, name)) { return found; }
    }
    return nullptr;
}

SPOTTER_BODY smdebug_reader::schedule
smdebug_reader::schedule_of(setting_group const& group, smdebug_default const& like, mode which) const noexcept {
    std::string_view const prefix = name_of(which);
    schedule it;
    it.interval = like.interval;
    bool own = false;
    for (std::string_view key : {"save_interval", "start_step", "end_step", "save_steps"}) {
        own = own || find(group, prefix, key) != nullptr || find(group, {}, key) != nullptr;
        setting const* const found = inherited(group, !like.always, prefix, key);
        if (found == nullptr) { continue; }
        if (key == "save_steps") {
            it.steps = found->value;
        } else {
            (void)read_whole(found->value, key == "save_interval" ? it.interval
                                           : key == "start_step"  ? it.first
                                                                  : it.end);
        }
    }
    it.on = own || !like.in_training || which == mode::train;
    return it;
}

SPOTTER_BODY dynamic_plan::part smdebug_reader::when(schedule const& it) noexcept {
    bool const bounded = it.first > 0 || it.end != ~std::uint64_t{0};
    dynamic_plan::part all = plan_.keep(never{});
    if (it.end > it.first) {
        if (it.interval > 1 || !bounded) {
            all = it.interval > 1 ? plan_.keep(every{it.interval}) : plan_.keep(always{});
        }
        if (bounded) {
            dynamic_plan::part const range = it.end == ~std::uint64_t{0} ? plan_.keep(from{it.first})
                                             : it.first == 0             ? plan_.keep(before{it.end})
                                                                         : plan_.keep(between{it.first, it.end});
            all = it.interval > 1 ? plan_.join(asked::both, all, range) : range;
        }
    }
    slot_array<std::uint64_t> steps;
    std::size_t count = 0;
    each_item(it.steps, false,
              [&](std::string_view item) { return steps.grow(count + 1) && read_whole(item, steps[count++]); });
    if (count == 0) { return all; }
    return plan_.join(asked::either, all, plan_.keep_at({steps.data(), count}));
}

SPOTTER_BODY void smdebug_reader::add(setting_group const& group) noexcept {
    smdebug_default const* like = nullptr;
    for (smdebug_default const& each : smdebug_defaults) {
        if (each.name == group.name) { like = &each; }
    }
    if (why_) { return; }
    dynamic_plan::part which{};
    bool any_tensors = false;
    auto const take = [&](dynamic_plan::part more) {
        which = any_tensors ? plan_.join(asked::either, which, more) : more;
        any_tensors = true;
    };
    if (group.name == "losses") {
        take(plan_.keep(defaults::boosted::falling));
    } else if (group.name == "average_shap") {
        take(plan_.keep(defaults::boosted::average_shap.which));
    } else if (group.name == "all") {
        take(plan_.keep(glob{"*"}));
    } else if (like != nullptr && group.name != "default") {
        take(plan_.keep(of_role{like->role}));
        if (like->or_role != like->role) { take(plan_.keep(of_role{like->or_role})); }
    }
    auto const take_expressions = [&](setting_group const& from) {
        setting const* const list = find(from, {}, "include_regex");
        if (list == nullptr) { return; }
        each_item(list->value, true, [&](std::string_view item) {
            take(plan_.keep_regex(item, *expressions_));
            return plan_.whole();
        });
    };
    if (!is_configured(group.name)) { take_expressions(group); }
    for (setting_group const& each : collections_) {
        if (each.name == group.name) { take_expressions(each); }
    }
    if (group.name == "default") { take_expressions(hook_); }
    if (plan_.too_deep()) {
        return refuse(group, "include_regex", {}, "a list holds 256 expressions at most; join them by |");
    }
    if (!any_tensors) { take(plan_.negate(plan_.keep(glob{"*"}))); }  // a collection with only a name has no tensors

    static constexpr smdebug_default other{};
    if (like == nullptr) { like = &other; }
    schedule const modes[] = {schedule_of(group, *like, mode::train), schedule_of(group, *like, mode::eval),
                              schedule_of(group, *like, mode::predict)};
    dynamic_plan::part at_steps{};
    if (modes[0].on && modes[0] == modes[1] && modes[0] == modes[2]) {
        at_steps = when(modes[0]);
    } else {
        bool first = true;
        for (std::size_t i = 0; i < mode_count; ++i) {
            if (!modes[i].on) { continue; }
            dynamic_plan::part const here = when(modes[i]);
            dynamic_plan::part const both = plan_.join(asked::both, here, plan_.keep(during{static_cast<mode>(i)}));
            at_steps = first ? both : plan_.join(asked::either, at_steps, both);
            first = false;
        }
    }

    terms what = terms::none;
    auto const told = [&](std::string_view key) {
        setting const* const mine = own(group, key);
        return mine != nullptr || like->always ? mine : find(hook_, {}, key);
    };
    if (setting const* const list = told("reductions")) {
        each_item(list->value, false, [&](std::string_view item) { return read_reduction(item, what); });
    }
    if (is_true(told("save_shape"))) { what |= shape; }
    if (!any(what) || is_true(told("save_raw_tensor"))) { what |= payload; }
    plan_.add(group.name, which, at_steps, what);
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY result<dynamic_plan> read_smdebug(setting_group const& hook, std::span<setting_group const> collections,
                                               text_matcher const* expressions) noexcept {
    return detail::smdebug_reader{hook, collections, expressions}.read();
}

}  // namespace spotter::inline SPOTTER_ABI
