// SPDX-License-Identifier: Apache-2.0
// Plan (L2): converts the settings of a SageMaker Debugger configuration to a plan. Independent of the file format,
// which ext/json.hpp reads.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/plan/defaults.hpp>
#include <spotter/plan/dynamic_plan.hpp>

#include <algorithm>
#include <optional>

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
// `global` is the mode of a step without one, which does not exist here: its keys are ignored.
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

// The end of the item that begins at `begin`: its comma, or the end of the list. If the items are regular expressions,
// commas within brackets do not separate.
[[nodiscard]] constexpr std::size_t end_of_item(std::string_view list, std::size_t begin, bool expressions) noexcept {
    if (!expressions) { return (std::min)(list.find(',', begin), list.size()); }
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

class smdebug_reader {
public:
    smdebug_reader(setting_group const& hook, std::span<setting_group const> collections,
                   text_matcher const* expressions) noexcept
        : hook_{hook}, collections_{collections}, expressions_{expressions} {}

    [[nodiscard]] result<dynamic_plan> read() noexcept;

private:
    using part = dynamic_plan::part;
    static constexpr std::size_t most_steps = 65536;  // of a list, which is searched at every step

    [[nodiscard]] static error too_many() noexcept;

    struct schedule {
        bool on = true;
        std::uint64_t interval = 1, first = 0, end = ~std::uint64_t{0};
        std::string_view steps{};
        friend bool operator==(schedule const&, schedule const&) noexcept = default;
    };

    // Reports an error; only the first is kept.
    void refuse(setting_group const& group, std::string_view key, std::string_view value, std::string_view what,
                errc code = errc::bad_config) noexcept;

    void inspect(setting_group const& group) noexcept;
    void inspect(setting_group const& group, setting const& it, takes what) noexcept;
    [[nodiscard]] static bool is_well_formed(setting const& it, takes what) noexcept;
    void inspect_item(setting_group const& group, std::string_view key, std::string_view item, takes what) noexcept;

    [[nodiscard]] static setting const* find(setting_group const& group, std::string_view prefix,
                                             std::string_view name) noexcept;
    [[nodiscard]] static bool is_true(setting const* it) noexcept;
    [[nodiscard]] bool is_configured(std::string_view name) const noexcept;
    // A collection may be given several times: the last one defines its schedule, and for every other key the last one
    // that has it counts.
    [[nodiscard]] bool is_last_of_its_name(std::size_t which) const noexcept;
    [[nodiscard]] setting const* own(setting_group const& group, std::string_view name) const noexcept;

    // Looks for the key in this order: the collection's for the mode, the collection's, the hook's for the mode, the
    // hook's; null: use the default.
    [[nodiscard]] setting const* inherited(setting_group const& group, bool from_hook, std::string_view mode,
                                           std::string_view name) const noexcept;
    [[nodiscard]] schedule schedule_of(setting_group const& group, smdebug_default const& like,
                                       mode which) const noexcept;
    [[nodiscard]] part when(schedule const& it) noexcept;

    void add(setting_group const& group) noexcept;
    void add_included() noexcept;
    // Joins both by `or`.
    void widen(std::optional<part>& all, part more) noexcept;
    [[nodiscard]] std::optional<part> tensors_of(setting_group const& group, smdebug_default const& like) noexcept;
    [[nodiscard]] part steps_of(setting_group const& group, smdebug_default const& like) noexcept;
    [[nodiscard]] stats_mask contents_of(setting_group const& group, smdebug_default const& like) const noexcept;

    setting_group const& hook_;
    std::span<setting_group const> collections_;
    text_matcher const* expressions_;  // null: this program has no regular expressions
    dynamic_plan plan_{};
    error why_{};
};

}  // namespace detail

// Makes a plan from smdebug's settings, or returns their first error. docs/settings.md explains each key.
[[nodiscard]] result<dynamic_plan> read_smdebug(setting_group const& hook, std::span<setting_group const> collections,
                                                text_matcher const* expressions) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/plan/smdebug.ipp>
#endif
