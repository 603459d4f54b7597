// SPDX-License-Identifier: Apache-2.0
// Plan (L2): converts the settings of a SageMaker Debugger configuration to a plan. Independent of the file format,
// which ext/json.hpp reads.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/plan/defaults.hpp>
#include <spotter/plan/dynamic_plan.hpp>

namespace spotter::inline SPOTTER_ABI {

// The kind of a value: numbers and booleans as written, the items of a list joined by commas.
enum class setting_kind : std::uint8_t { text, number, boolean, list, other };
// A key with its value.
struct setting {
    std::string_view key{};    // as written
    std::string_view value{};  // as text
    setting_kind kind = setting_kind::other;
};
// The parameters of one collection, or of the hook, which has no name.
struct setting_group {
    std::string_view name{};
    std::span<setting const> settings{};  // in any order; not owned
};

namespace detail {

// The end of the item that begins at `begin`: its comma, or the end of the list. If the items are regular expressions,
// commas within brackets do not separate.
[[nodiscard]] constexpr std::size_t end_of_item(std::string_view list, std::size_t begin, bool expressions) noexcept {
    if (!expressions) {
        std::size_t const comma = list.find(',', begin);
        return comma < list.size() ? comma : list.size();
    }
    int depth = 0;
    bool in_class = false;
    for (std::size_t i = begin; i < list.size(); ++i) {
        char const letter = list[i];
        if (letter == '\\') {
            ++i;
        } else if (in_class || letter == '[') {
            in_class = letter != ']';
        } else if (letter == '(' || letter == '{') {
            ++depth;
        } else if (letter == ')' || letter == '}') {
            depth -= depth > 0 ? 1 : 0;
        } else if (letter == ',' && depth == 0) {
            return i;
        }
    }
    return list.size();
}
// Calls use(item) for each item of a list in a text, trimmed, until it returns false.
template <class Use>
void each_item(std::string_view list, bool expressions, Use&& use) noexcept {
    for (std::size_t begin = 0; begin < list.size();) {
        std::size_t const end = end_of_item(list, begin, expressions);
        std::string_view const item = trimmed(list.substr(begin, end - begin));
        if (!item.empty() && !use(item)) { return; }
        begin = end + 1;
    }
}

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
[[nodiscard]] constexpr smdebug_key const* find_key(std::string_view name, bool of_hook) noexcept {
    for (smdebug_key const& each : smdebug_keys) {
        if (each.name == name && (of_hook ? each.of_hook : each.of_collection)) { return &each; }
    }
    return nullptr;
}
// `global` is the mode of a step without one, which does not exist here: its keys are ignored beside others, and an
// error alone.
[[nodiscard]] constexpr bool is_mode(std::string_view prefix) noexcept {
    return prefix == "train" || prefix == "eval" || prefix == "predict" || prefix == "global";
}

// The accepted kinds of a value, the error text for other kinds, and whether its items are validated; in the order of
// `takes`.
struct smdebug_form {
    unsigned kinds;
    std::string_view otherwise;
    bool of_items = false;
};
[[nodiscard]] constexpr unsigned kinds_of(std::same_as<setting_kind> auto... kinds) noexcept {
    return ((1U << static_cast<unsigned>(kinds)) | ...);
}
inline constexpr smdebug_form smdebug_forms[] = {
    {kinds_of(setting_kind::text, setting_kind::number),
     "is no interval; allowed: one whole number of steps, from 1 on"},
    {kinds_of(setting_kind::text, setting_kind::number), "is no step; allowed: one whole number, from 0 on"},
    {kinds_of(setting_kind::text, setting_kind::number, setting_kind::list),
     "is no list of steps; allowed: \"0,10,20\" or [0, 10, 20]", true},
    {kinds_of(setting_kind::text, setting_kind::list), "is no text; allowed: regular expressions, separated by commas",
     true},
    {kinds_of(setting_kind::text, setting_kind::list), "is no text; allowed: names of reductions, separated by commas",
     true},
    {kinds_of(setting_kind::text, setting_kind::boolean), "is neither true nor false"},
    {kinds_of(setting_kind::text), "is no text"},
    {kinds_of(setting_kind::text, setting_kind::list),
     "is no text; allowed: names of collections, separated by commas"},
};
static_assert(std::size(smdebug_forms) == static_cast<std::size_t>(takes::names) + 1);

// The predefined collections. `always`: at every step and with all values, regardless of the hook's keys.
struct smdebug_default {
    std::string_view name;
    spotter::role role = role::other;
    spotter::role or_role = role::other;
    std::uint64_t interval = 500;
    bool always = false, in_training = false;

    [[nodiscard]] constexpr bool has_role() const noexcept { return role != role::other; }
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
[[nodiscard]] constexpr smdebug_default const* find_default(std::string_view name) noexcept {
    for (smdebug_default const& each : smdebug_defaults) {
        if (each.name == name) { return &each; }
    }
    return nullptr;
}

}  // namespace detail

// Makes a plan from smdebug's settings, or returns their first error. docs/settings.md explains each key.
[[nodiscard]] result<dynamic_plan> read_smdebug(setting_group const& hook, std::span<setting_group const> collections,
                                                text_matcher const* expressions) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/plan/smdebug.ipp>
#endif
