// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of settings.hpp.
#include "diff/settings.hpp"

#include <spotter/stat/any_values.hpp>
#include <spotter/trial/environment_lines.hpp>
#include <spotter/trial/recorded_events.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace spotter::inline SPOTTER_ABI::detail {

// A time or a sample of the machine, or a line that the library itself writes of what happened: no setting.
[[nodiscard]] static bool is_event(recorded_tensor const& it) noexcept {
    constexpr std::string_view events[] = {"checkpoint", "collective", "control", "decision",
                                           "preflight",  "refused",    "rerun"};
    if (it.info.role == role::timing || it.info.role == role::system) { return true; }
    std::string_view const name = it.name;
    return std::find(std::begin(events), std::end(events), name) != std::end(events) || name.starts_with("preflight/");
}

// The last text or number of a name that was recorded between steps: how programs record seeds, flags and hardware.
static void add_loose_scalars(worker_index const& from, settings_list& into) {
    row_finder finder;
    for (auto const& tensor : from.tensors()) {
        if (is_event(*tensor)) { continue; }
        for (track_entry const& entry : tensor->entries) {
            rows::scalar row;
            if (!entry.loose || decode(from.row_at(entry.place, row_kind::scalar, finder), row)) { continue; }
            std::string& value = into["\"" + tensor->name + '"'];
            if (row.type == dtype::text) {
                value.assign(reinterpret_cast<char const*>(row.value.data()), row.value.size());
                continue;
            }
            tensor_ref view{};
            std::vector<std::byte> const copy(row.value.begin(), row.value.end());
            view.values.raw = copy.data();
            view.type = row.type;
            view.count = 1;
            visit_values(view, [&](auto values) {
                double const number = see(values[0]).value;
                char digits[32];
                value.assign(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
            });
        }
    }
}

// Adds the content of the record's first row.
static void add_beginning(worker_index const& from, settings_list& into) {
    bool met = false;
    recorded_events{from}.advance(
        [&] { return !met; },
        [&](rows::run_begin const& begin) {
            met = true;
            into["library version"] = begin.version;
            each_environment_line(begin.environment, [&](std::string_view key, std::string_view value) {
                into["environment: " + std::string{key}] = value;
            });
            into["tensors are observed"] = begin.instant == 0 ? "before the update" : "after the update";
        });
}

settings_list settings_of(trial const& run) {
    settings_list all;
    add_beginning(run.index(), all);
    all["workers"] = std::to_string(run.workers().size());
    all["attempts"] = std::to_string(run.attempts());
    for (recorded_collection const& each : run.collections()) { all["collection " + each.name] = each.what; }
    for (recorded_coverage const& each : run.coverages()) { all["rule " + each.rule] = "judged"; }
    add_loose_scalars(run.index(), all);
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

std::vector<setting_difference> compare_settings(trial const& a, trial const& b) {
    detail::settings_list const in_a = detail::settings_of(a), in_b = detail::settings_of(b);
    std::map<std::string, setting_difference> all;
    for (auto const& [what, value] : in_a) { all[what] = {what, value, {}}; }
    for (auto const& [what, value] : in_b) { all[what].what = what, all[what].b = value; }
    std::vector<setting_difference> found;
    for (auto const& [what, each] : all) {
        if (each.a != each.b) { found.push_back(each); }
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI
