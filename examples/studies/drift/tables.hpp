// SPDX-License-Identifier: Apache-2.0
// The results of a stream, read from its record, and the tables of the page.
#pragma once

#include "serving.hpp"

#include <spotter/trial.hpp>
#include <spotter/workbench/saliency.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace drifting {

struct stream_results {
    change what = change::none;
    std::int64_t right_before = 0, right_after = 0;   // number of right answers, before and after the change
    std::optional<std::uint64_t> reported_at{};       // batch at which drift was reported
    std::string tensor{};                             // the tensor of that finding
    std::uint64_t captured = 0, captured_before = 0;  // batches whose requests are in the record; those of them before
                                                      // the change
    double incompleteness = 0;                        // largest of the maps

    void read(sp::trial const& run, std::uint64_t change_at) {
        for (sp::finding const& each : run.findings()) {
            if (each.rule != "drift") { continue; }
            reported_at = each.step.index;
            tensor = each.tensor;
        }
        for (sp::step_id const at : run["input"].payload_steps()) {
            ++captured;
            captured_before += at.index < change_at ? 1 : 0;
            incompleteness = std::max(incompleteness, sp::full_gradients(run, at).value().incompleteness());
        }
    }
};

struct seed_results {
    std::uint64_t seed = 0, batches = 0, change_at = 0;
    std::vector<stream_results> clean{}, changed{};

    [[nodiscard]] double share_right(std::vector<stream_results> const& of, bool after, change what) const {
        std::int64_t right = 0, all = 0;
        for (stream_results const& each : of) {
            if (each.what != what) { continue; }
            right += after ? each.right_after : each.right_before;
            all += static_cast<std::int64_t>(after ? batches - change_at : change_at) * recipe::requests;
        }
        return static_cast<double>(right) / static_cast<double>(all);
    }
};

// For one seed or several.
[[nodiscard]] inline std::string clean_table(std::vector<seed_results> const& all) {
    std::string text = "| seed | clean streams | requests | false alarms | right |\n|---|---|---|---|---|\n";
    for (seed_results const& it : all) {
        auto const alarms = std::count_if(it.clean.begin(), it.clean.end(),
                                          [](stream_results const& s) { return s.reported_at.has_value(); });
        text += fmt::format(
            "| {} | {} | {} | {} | {:.1f} % |\n", it.seed, it.clean.size(),
            it.clean.size() * it.batches * static_cast<std::uint64_t>(recipe::requests), alarms,
            50 * (it.share_right(it.clean, false, change::none) + it.share_right(it.clean, true, change::none)));
    }
    return text;
}

[[nodiscard]] inline std::string changes_table(std::vector<seed_results> const& all) {
    std::string text =
        "| change | right before | right after | reported | requests until reported: median | most | first reported |\n"
        "|---|---|---|---|---|---|---|\n";
    for (change const what : changes) {
        std::vector<std::uint64_t> delays;
        std::map<std::string, int> tensors;
        double before = 0, after = 0;
        std::size_t streams = 0;
        for (seed_results const& it : all) {
            before += it.share_right(it.changed, false, what) / static_cast<double>(all.size());
            after += it.share_right(it.changed, true, what) / static_cast<double>(all.size());
            for (stream_results const& each : it.changed) {
                if (each.what != what) { continue; }
                ++streams;
                if (!each.reported_at || *each.reported_at < it.change_at) { continue; }
                delays.push_back((*each.reported_at - it.change_at + 1) * static_cast<std::uint64_t>(recipe::requests));
                ++tensors[each.tensor];
            }
        }
        std::sort(delays.begin(), delays.end());
        std::string names;
        for (auto const& [name, times] : tensors) {
            names += fmt::format("{}`{}` {} ×", names.empty() ? "" : ", ", name, times);
        }
        text += fmt::format("| {} | {:.1f} % | {:.1f} % | {} of {} | {} | {} | {} |\n", name_of(what), 100 * before,
                            100 * after, delays.size(), streams,
                            delays.empty() ? "-" : fmt::format("{}", delays[delays.size() / 2]),
                            delays.empty() ? "-" : fmt::format("{}", delays.back()), names);
    }
    return text;
}

[[nodiscard]] inline std::string seed_table(seed_results const& it) {
    return clean_table({it}) + "\n" + changes_table({it});
}

}  // namespace drifting
