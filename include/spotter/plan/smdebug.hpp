// SPDX-License-Identifier: Apache-2.0
// Plan (L2): what the settings of a SageMaker Debugger configuration mean, as a plan. Knows no file format: ext/json.hpp reads.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/plan/defaults.hpp>
#include <spotter/plan/dynamic_plan.hpp>

namespace spotter::inline SPOTTER_ABI {

// One key with its value: numbers and truths as they are written, the items of a list joined by commas.
enum class setting_kind : std::uint8_t { text, number, boolean, list, other };
struct setting {
    std::string_view key{};
    std::string_view value{};
    setting_kind kind = setting_kind::other;
};
// The parameters of one collection; those of the hook have no name.
struct setting_group {
    std::string_view name{};
    std::span<setting const> settings{};
};

namespace detail {

enum class takes : std::uint8_t { interval, step, steps, expressions, reductions, truth, word, names };

struct smdebug_key {
    std::string_view name;
    takes what;
    bool by_mode = false;
    bool of_hook = true, of_collection = true;
};
inline constexpr smdebug_key smdebug_keys[] = {
    {"save_interval", takes::interval, true},
    {"start_step", takes::step, true},
    {"end_step", takes::step, true},
    {"save_steps", takes::steps, true},
    {"include_regex", takes::expressions},
    {"reductions", takes::reductions},
    {"save_raw_tensor", takes::truth},
    {"save_shape", takes::truth},
    {"save_histogram", takes::truth, false, false, true},
    {"save_all", takes::truth, false, true, false},
    {"dry_run", takes::truth, false, true, false},
    {"include_collections", takes::names, false, true, false},
    {"include_workers", takes::word, false, true, false},
    {"export_tensorboard", takes::truth, false, true, false},
    {"tensorboard_dir", takes::word, false, true, false},
};

// The collections that every configuration knows. `always`: at every step and whole, whatever the hook's keys say.
struct smdebug_default {
    std::string_view name;
    spotter::role role = role::other;
    spotter::role or_role = role::other;
    std::uint64_t interval = 500;
    bool always = false, in_training = false;
};
inline constexpr smdebug_default smdebug_defaults[] = {
    {"weights", role::weight, role::weight},
    {"biases", role::bias, role::bias},
    {"gradients", role::gradient, role::gradient, 500, false, true},
    {"losses", role::loss, role::loss, 1, true},
    {"metrics", role::metric, role::metric, 1, true},
    {"optimizer_variables", role::optimizer, role::optimizer, 500, false, true},
    {"inputs", role::input, role::input},
    {"outputs", role::prediction, role::prediction},
    {"layers", role::preactivation, role::activation},
    {"scalars", role::loss, role::metric, 1, true},
    {"sm_metrics", role::metric, role::metric, 1, true},
    {"searchable_scalars", role::metric, role::metric, 1, true},
    {"hyperparameters", role::hyperparameter, role::hyperparameter, 10},
    {"predictions", role::prediction, role::prediction, 10},
    {"labels", role::label, role::label, 10},
    {"feature_importance", role::importance, role::importance, 10},
    {"average_shap", role::average_shap, role::average_shap, 10},
    {"full_shap", role::full_shap, role::full_shap, 10},
    {"trees", role::tree, role::tree, 10},
    {"all"},
    {"default"},
};

// Calls use(item) for each item of a list in a text, trimmed, until it returns false. Commas within brackets are no separators
// where the items are regular expressions.
template <class Use>
void each_item(std::string_view list, bool expressions, Use&& use) noexcept {
    auto const trimmed = [](std::string_view item) {
        while (item.starts_with(' ')) { item.remove_prefix(1); }
        while (item.ends_with(' ')) { item.remove_suffix(1); }
        return item;
    };
    std::size_t begin = 0;
    int depth = 0;
    bool in_class = false;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        char const letter = i == list.size() ? ',' : list[i];
        if (i < list.size() && expressions) {
            if (letter == '\\') {
                ++i;
                continue;
            }
            if (in_class ? letter == ']' : letter == '[') { in_class = !in_class; }
            if (!in_class && (letter == '(' || letter == '{')) { ++depth; }
            if (!in_class && (letter == ')' || letter == '}') && depth > 0) { --depth; }
            if (in_class || depth > 0) { continue; }
        }
        if (letter != ',') { continue; }
        std::string_view const item = trimmed(list.substr(begin, (i < list.size() ? i : list.size()) - begin));
        begin = i + 1;
        if (!item.empty() && !use(item)) { return; }
    }
    if (begin < list.size()) { (void)use(trimmed(list.substr(begin))); }  // a bracket or a backslash was left open
}

// Digits only; false where that is not what it is, or where it does not fit.
[[nodiscard]] constexpr bool read_whole(std::string_view text, std::uint64_t& number) noexcept {
    while (text.starts_with(' ')) { text.remove_prefix(1); }
    while (text.ends_with(' ')) { text.remove_suffix(1); }
    number = 0;
    for (char const digit : text) {
        if (digit < '0' || digit > '9' || number > (~std::uint64_t{0} - 9) / 10) { return false; }
        number = number * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    return !text.empty();
}

// The terms of a reduction as smdebug writes it.
[[nodiscard]] constexpr bool read_reduction(std::string_view name, terms& what) noexcept {
    bool const abs = name.starts_with("abs_");
    if (abs) { name.remove_prefix(4); }
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
            for (std::size_t k = 0; k < i; ++k) {
                if (collections_[k].name == collections_[i].name) {
                    refuse(collections_[i], "CollectionName", {}, "is given twice; put the parameters together");
                }
            }
            add(collections_[i]);
        }
        if (setting const* const list = find(hook_, {}, "include_collections")) {
            each_item(list->value, false, [&](std::string_view name) {
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

private:
    static constexpr std::size_t most_steps = 65536;  // of a list: they are looked through at every step

    [[nodiscard]] static error too_many() noexcept {
        return {errc::bad_config, "CollectionConfigurations: a plan holds at most 64 collections"};
    }

    struct schedule {
        bool on = true;
        std::uint64_t interval = 1, first = 0, end = ~std::uint64_t{0};
        std::string_view steps{};
        friend bool operator==(schedule const&, schedule const&) noexcept = default;
    };

    // The first thing that is wrong is told.
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
            if (prefix == "global") {
                return refuse(group, key, {},
                              "every step of spotter is train, eval or predict, none is global: leave the prefix out, "
                              "or use one of these");
            }
            if (dot != key.npos && prefix != "train" && prefix != "eval" && prefix != "predict") {
                return refuse(group, key, prefix, "is no mode; allowed: train. eval. predict.");
            }
            if (known == nullptr) {
                return refuse(group, key, {},
                              &group == &hook_
                                  ? "unknown key; allowed: save_interval start_step end_step save_steps include_regex "
                                    "reductions save_raw_tensor save_shape save_all ..."
                                  : "unknown key; allowed: include_regex save_interval start_step end_step save_steps "
                                    "reductions save_raw_tensor save_shape save_histogram");
            }
            if (dot != key.npos && !known->by_mode) {
                return refuse(group, key, {},
                              "takes no mode; only save_interval, start_step, end_step and save_steps do");
            }
            inspect(group, each, known->what);
        }
    }
    void inspect(setting_group const& group, setting const& it, takes what) noexcept {
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
                        refuse(group, it.key, item,
                               "is no step; allowed: whole numbers from 0 on, separated by commas");
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
                    refuse(
                        group, it.key, shown,
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
                        refuse(
                            group, it.key, item,
                            "is no reduction; allowed: min max mean std variance sum prod l1 l2, each also as abs_...");
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

    // The collection's key for the mode, its key, the hook's for the mode, the hook's; null: the default.
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
    [[nodiscard]] dynamic_plan::part when(schedule const& it) noexcept {
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
        slots<std::uint64_t> steps;
        std::size_t count = 0;
        each_item(it.steps, false,
                  [&](std::string_view item) { return steps.grow(count + 1) && read_whole(item, steps[count++]); });
        if (count == 0) { return all; }
        return plan_.join(asked::either, all, plan_.keep_at({steps.data(), count}));
    }

    void add(setting_group const& group) noexcept {
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
        for (setting_group const* from : {&group, &hook_}) {
            if (from == &hook_ && group.name != "default") { break; }
            if (setting const* const list = find(*from, {}, "include_regex")) {
                each_item(list->value, true, [&](std::string_view item) {
                    take(plan_.keep_regex(item, *expressions_));
                    return plan_.whole();
                });
            }
        }
        if (plan_.too_deep()) {
            return refuse(group, "include_regex", {}, "a list holds 256 expressions at most; join them by |");
        }
        if (!any_tensors) {
            return refuse(group, "include_regex", {},
                          group.name == "default" ? "HookParameters and it say no regular expression: which tensors?"
                                                  : "missing, and this is no default collection (weights biases "
                                                    "gradients losses metrics ... all): which tensors?");
        }

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
        if (setting const* const list = inherited(group, !like->always, {}, "reductions")) {
            each_item(list->value, false, [&](std::string_view item) { return read_reduction(item, what); });
        }
        if (is_true(inherited(group, !like->always, {}, "save_shape"))) { what |= shape; }
        if (!any(what) || is_true(inherited(group, !like->always, {}, "save_raw_tensor"))) { what |= payload; }
        plan_.add(group.name, which, at_steps, what);
    }

    setting_group const& hook_;
    std::span<setting_group const> collections_;
    text_matcher const* expressions_;  // null: this program has no regular expressions
    dynamic_plan plan_{};
    error why_{};
};

}  // namespace detail

// A plan from smdebug's settings, or the first thing that is wrong with them. What each key means is in docs/settings.md.
[[nodiscard]] inline result<dynamic_plan> read_smdebug(setting_group const& hook,
                                                       std::span<setting_group const> collections,
                                                       text_matcher const* expressions) noexcept {
    return detail::smdebug_reader{hook, collections, expressions}.read();
}

}  // namespace spotter::inline SPOTTER_ABI
