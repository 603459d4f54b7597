// SPDX-License-Identifier: Apache-2.0
// The bodies of smdebug.hpp.
#pragma once

#include <spotter/core/nearest_word.hpp>
#include <spotter/plan/smdebug.hpp>

#include <algorithm>
#include <optional>

namespace spotter::inline SPOTTER_ABI::detail {

// Parses digits; false for anything else, or if the number does not fit.
[[nodiscard]] constexpr bool read_whole(std::string_view text, std::uint64_t& number) noexcept {
    number = 0;
    for (char const digit : trimmed(text)) {
        if (digit < '0' || digit > '9' || number > (~std::uint64_t{0} - 9) / 10) { return false; }
        number = number * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    return !trimmed(text).empty();
}

// The terms of a reduction by smdebug's name (l1_norm) or spotter's (l1).
[[nodiscard]] constexpr bool read_reduction(std::string_view name, stats_mask& what) noexcept {
    bool const abs = name.starts_with("abs_");
    if (abs) { name.remove_prefix(4); }
    if (name == "l1_norm" || name == "l2_norm") { name.remove_suffix(5); }
    constexpr struct {
        std::string_view name;
        statistic_id id;
    } all[] = {{"min", statistic_id::minimum},
               {"max", statistic_id::maximum},
               {"mean", statistic_id::mean},
               {"std", statistic_id::stddev},
               {"variance", statistic_id::variance},
               {"sum", statistic_id::sum},
               {"prod", statistic_id::product},
               {"l1", statistic_id::l1},
               {"l2", statistic_id::l2}};
    for (auto const& each : all) {
        if (name == each.name) {
            what |= stats(statistic{each.id, abs});
            return true;
        }
    }
    return false;
}

[[nodiscard]] SPOTTER_BODY text<232> no_reduction(std::string_view item) noexcept {
    nearest_word there{item, {"min", "max", "mean", "std", "variance", "sum", "prod", "l1_norm", "l2_norm"}};
    for (std::string_view const each : {"abs_min", "abs_max", "abs_mean", "abs_std", "abs_variance", "abs_sum",
                                        "abs_prod", "abs_l1_norm", "abs_l2_norm"}) {
        there.may_mean(each);
    }
    return there.sentence("is no reduction") << ", each also as abs_...";
}

class smdebug_reader {
public:
    smdebug_reader(setting_group const& hook, std::span<setting_group const> collections,
                   text_matcher const* expressions) noexcept
        : hook_{hook}, collections_{collections}, expressions_{expressions} {}

    [[nodiscard]] result<dynamic_plan> read() noexcept {
        if (collections_.size() > dynamic_plan::limit) { return too_many(); }
        inspect(hook_);
        for (setting_group const& each : collections_) { inspect(each); }
        for (std::size_t i = 0; i < collections_.size(); ++i) {
            if (is_last_of_its_name(i)) { add(collections_[i]); }
        }
        add_included();
        auto const add_default = [&](std::string_view name, bool wanted = true) {
            if (wanted && !is_configured(name)) { add({name, {}}); }
        };
        add_default("default", find(hook_, {}, "include_regex") != nullptr);
        add_default("all", is_true(find(hook_, {}, "save_all")));
        add_default("losses");
        add_default("metrics");
        if (!why_ && !plan_.whole()) { return too_many(); }
        if (why_) { return why_; }
        plan_.dry_run = is_true(find(hook_, {}, "dry_run"));
        return std::move(plan_);
    }

private:
    using part = dynamic_plan::part;
    static constexpr std::size_t most_steps = 65536;  // of a list, which is searched at every step

    [[nodiscard]] static error too_many() noexcept {
        return {errc::bad_config, "CollectionConfigurations: a plan holds at most 64 collections"};
    }

    struct schedule {
        bool on = true;
        std::uint64_t interval = 1, first = 0, end = ~std::uint64_t{0};
        std::string_view steps{};
        friend bool operator==(schedule const&, schedule const&) noexcept = default;
    };

    // Reports an error; only the first is kept.
    void refuse(setting_group const& group, std::string_view key, std::string_view value, std::string_view what,
                errc code = errc::bad_config) noexcept {
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

    void inspect(setting_group const& group) noexcept {
        bool const of_hook = &group == &hook_;
        std::string_view global{};    // a key of steps without a mode
        bool by_other_modes = false;  // a schedule for steps of this library
        for (setting const& each : group.settings) {
            std::string_view const key = each.key;
            std::size_t const dot = key.find('.');
            bool const by_mode = dot != key.npos;
            std::string_view const prefix = by_mode ? key.substr(0, dot) : std::string_view{};
            std::string_view const name = by_mode ? key.substr(dot + 1) : key;
            if (by_mode && !is_mode(prefix)) {
                return refuse(group, key, prefix,
                              nearest_word{prefix, {"train", "eval", "predict", "global"}}.sentence("is no mode"));
            }
            smdebug_key const* const known = find_key(name, of_hook);
            if (known == nullptr) {
                nearest_word there{name};
                for (smdebug_key const& one : smdebug_keys) {
                    if (of_hook ? one.of_hook : one.of_collection) { there.among(one.name); }
                }
                return refuse(group, key, {}, there.sentence("unknown key"));
            }
            if (by_mode && !known->by_mode) {
                return refuse(group, key, {},
                              "takes no mode; only save_interval, start_step, end_step and save_steps do");
            }
            inspect(group, each, known->what);
            if (prefix == "global") { global = key; }
            by_other_modes = by_other_modes || (known->by_mode && prefix != "global");
        }
        if (!global.empty() && !by_other_modes) {
            refuse(group, global, {},
                   "every step has a mode here: write it for train, eval or predict, or for all modes");
        }
    }

    void inspect(setting_group const& group, setting const& it, takes what) noexcept {
        std::string_view const shown = it.value.empty() ? std::string_view{" "} : it.value;
        smdebug_form const& form = smdebug_forms[static_cast<std::size_t>(what)];
        bool const of_its_kind = (form.kinds >> static_cast<unsigned>(it.kind) & 1U) != 0;
        if (!of_its_kind || !is_well_formed(it, what)) { return refuse(group, it.key, shown, form.otherwise); }
        if (what == takes::expressions && expressions_ == nullptr) {
            return refuse(
                group, it.key, shown,
                "regular expressions need a program built with exceptions; use spotter's own form with a glob");
        }
        if (!form.of_items) { return; }
        each_item(it.value, what == takes::expressions, [&, count = std::size_t{0}](std::string_view item) mutable {
            inspect_item(group, it.key, item, what);
            if (what == takes::steps && ++count > most_steps) {
                refuse(group, it.key, {}, "a list holds 65536 steps at most");
            }
            return !why_;
        });
    }

    [[nodiscard]] static bool is_well_formed(setting const& it, takes what) noexcept {
        std::uint64_t number = 0;
        switch (what) {
            case takes::interval:
                return read_whole(it.value, number) && number > 0;
            case takes::step:
                return read_whole(it.value, number);
            case takes::truth:
                return it.kind == setting_kind::boolean || is_true(&it) || it.value == "false" || it.value == "False";
            case takes::steps:
            case takes::expressions:
            case takes::reductions:
            case takes::word:
            case takes::names:
                break;  // each item is inspected by itself, or any text will do
        }
        return true;
    }

    void inspect_item(setting_group const& group, std::string_view key, std::string_view item, takes what) noexcept {
        std::uint64_t number = 0;
        stats_mask ignored = stats_mask::none;
        if (what == takes::steps && !read_whole(item, number)) {
            refuse(group, key, item, "is no step; allowed: whole numbers from 0 on, separated by commas");
        }
        if (what == takes::reductions && !read_reduction(item, ignored)) {
            refuse(group, key, item, no_reduction(item).view());
        }
        if (what != takes::expressions || why_) { return; }
        if (pattern_fault const bad = expressions_->fault(item); !bad.empty()) {
            text<160> message{"is a malformed regular expression (ECMAScript)"};
            if (!bad.why.empty()) { message << "; at " << bad.at << ": " << bad.why; }
            refuse(group, key, item, message.view(), errc::bad_pattern);
        }
    }

    [[nodiscard]] static setting const* find(setting_group const& group, std::string_view prefix,
                                             std::string_view name) noexcept {
        for (setting const& each : group.settings) {
            bool const found = prefix.empty() ? each.key == name
                                              : each.key.size() == prefix.size() + 1 + name.size() &&
                                                    each.key.starts_with(prefix) && each.key[prefix.size()] == '.' &&
                                                    each.key.ends_with(name);
            if (found) { return &each; }
        }
        return nullptr;
    }

    [[nodiscard]] static bool is_true(setting const* it) noexcept {
        return it != nullptr && (it->value == "true" || it->value == "True");
    }

    [[nodiscard]] bool is_configured(std::string_view name) const noexcept {
        for (setting_group const& each : collections_) {
            if (each.name == name) { return true; }
        }
        return false;
    }

    // A collection may be given several times: the last one defines its schedule, and for every other key the last one
    // that has it counts.
    [[nodiscard]] bool is_last_of_its_name(std::size_t which) const noexcept {
        for (setting_group const& later : collections_.subspan(which + 1)) {
            if (later.name == collections_[which].name) { return false; }
        }
        return true;
    }

    [[nodiscard]] setting const* own(setting_group const& group, std::string_view name) const noexcept {
        setting const* found = find(group, {}, name);
        for (std::size_t i = collections_.size(); found == nullptr && i > 0; --i) {
            if (collections_[i - 1].name == group.name) { found = find(collections_[i - 1], {}, name); }
        }
        return found;
    }

    // Looks for the key in this order: the collection's for the mode, the collection's, the hook's for the mode, the
    // hook's; null: use the default.
    [[nodiscard]] setting const* inherited(setting_group const& group, bool from_hook, std::string_view mode,
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

    [[nodiscard]] schedule schedule_of(setting_group const& group, smdebug_default const& like,
                                       mode which) const noexcept {
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

    [[nodiscard]] part when(schedule const& it) noexcept {
        bool const bounded = it.first > 0 || it.end != ~std::uint64_t{0};
        part all = plan_.keep(never{});
        if (it.end > it.first) {
            if (it.interval > 1 || !bounded) {
                all = it.interval > 1 ? plan_.keep(every{it.interval}) : plan_.keep(always{});
            }
            if (bounded) {
                part const range = it.end == ~std::uint64_t{0} ? plan_.keep(from{it.first})
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

    void add(setting_group const& group) noexcept {
        if (why_) { return; }
        static constexpr smdebug_default other{};
        smdebug_default const* const known = find_default(group.name);
        smdebug_default const& like = known != nullptr ? *known : other;
        std::optional<part> const which = tensors_of(group, like);
        if (plan_.too_deep()) {
            return refuse(group, "include_regex", {}, "a list holds 256 expressions at most; join them by |");
        }
        part const these = which ? *which : plan_.negate(plan_.keep(glob{"*"}));  // no pattern: no tensors
        plan_.add(group.name, these, steps_of(group, like), contents_of(group, like));
    }

    void add_included() noexcept {
        setting const* const list = find(hook_, {}, "include_collections");
        if (list == nullptr) { return; }
        each_item(list->value, false, [&](std::string_view name) {
            if (!is_configured(name)) {
                if (find_default(name) == nullptr) {
                    nearest_word there{name};
                    for (smdebug_default const& each : smdebug_defaults) { there.among(each.name); }
                    for (setting_group const& each : collections_) { there.among(each.name); }
                    refuse(hook_, "include_collections", name, there.sentence("is no collection"));
                }
                add({name, {}});
            }
            return !why_ && plan_.whole();
        });
    }

    // Joins both by `or`.
    void widen(std::optional<part>& all, part more) noexcept {
        all = all ? plan_.join(asked::either, *all, more) : more;
    }

    [[nodiscard]] std::optional<part> tensors_of(setting_group const& group, smdebug_default const& like) noexcept {
        std::optional<part> all;
        if (group.name == "losses") {
            widen(all, plan_.keep(defaults::boosted::falling));
        } else if (group.name == "average_shap") {
            widen(all, plan_.keep(defaults::boosted::average_shap.which));
        } else if (group.name == "all") {
            widen(all, plan_.keep(glob{"*"}));
        } else if (like.has_role()) {
            widen(all, plan_.keep(of_role{like.role}));
            if (like.or_role != like.role) { widen(all, plan_.keep(of_role{like.or_role})); }
        }
        auto const take_expressions = [&](setting_group const& from) {
            setting const* const list = find(from, {}, "include_regex");
            if (list == nullptr) { return; }
            each_item(list->value, true, [&](std::string_view item) {
                widen(all, plan_.keep_regex(item, *expressions_));
                return plan_.whole();
            });
        };
        if (!is_configured(group.name)) { take_expressions(group); }
        for (setting_group const& each : collections_) {
            if (each.name == group.name) { take_expressions(each); }
        }
        if (group.name == "default") { take_expressions(hook_); }
        return all;
    }

    [[nodiscard]] part steps_of(setting_group const& group, smdebug_default const& like) noexcept {
        schedule const modes[] = {schedule_of(group, like, mode::train), schedule_of(group, like, mode::eval),
                                  schedule_of(group, like, mode::predict)};
        if (modes[0].on && modes[0] == modes[1] && modes[0] == modes[2]) { return when(modes[0]); }
        std::optional<part> all;
        for (std::size_t i = 0; i < mode_count; ++i) {
            if (!modes[i].on) { continue; }
            part const here = when(modes[i]);
            widen(all, plan_.join(asked::both, here, plan_.keep(during{static_cast<mode>(i)})));
        }
        return all.value_or(part{});
    }

    [[nodiscard]] stats_mask contents_of(setting_group const& group, smdebug_default const& like) const noexcept {
        auto const given = [&](std::string_view key) {
            setting const* const mine = own(group, key);
            return mine != nullptr || like.always ? mine : find(hook_, {}, key);
        };
        stats_mask what = stats_mask::none;
        if (setting const* const list = given("reductions")) {
            each_item(list->value, false, [&](std::string_view item) { return read_reduction(item, what); });
        }
        if (is_true(given("save_shape"))) { what |= shape; }
        if (!any(what) || is_true(given("save_raw_tensor"))) { what |= payload; }
        return what;
    }

    setting_group const& hook_;
    std::span<setting_group const> collections_;
    text_matcher const* expressions_;  // null: this program has no regular expressions
    dynamic_plan plan_{};
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY result<dynamic_plan> read_smdebug(setting_group const& hook, std::span<setting_group const> collections,
                                               text_matcher const* expressions) noexcept {
    return detail::smdebug_reader{hook, collections, expressions}.read();
}

}  // namespace spotter::inline SPOTTER_ABI
