// SPDX-License-Identifier: Apache-2.0
// Export (L5): which parts of a run are exported, and what an exporter counted.
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/core/step.hpp>
#include <spotter/stat/statistic.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Which parts of a run are exported. By default everything.
struct export_choice {
    std::vector<std::string> names{};     // exact, or globs
    std::optional<spotter::mode> mode{};  // none: all
    std::optional<step_id> step{};        // none: all
    std::vector<statistic> statistics{};  // none: the usual ones, if they were stored

    // True for every name where none is given.
    [[nodiscard]] bool has_name(std::string_view name) const {
        return names.empty() || std::any_of(names.begin(), names.end(),
                                            [&](std::string const& each) { return each == name || glob{each}(name); });
    }
    // Whether mode and step are chosen.
    [[nodiscard]] bool has_step(step_id each) const noexcept {
        return (!step || each == *step) && (!mode || each.mode == *mode);
    }
};

// What an exporter has written and left out so far.
struct export_counts {
    std::uint64_t steps = 0;             // closes
    std::uint64_t values = 0;            // numbers, texts, histograms, pictures
    std::uint64_t left_out = 0;          // of these, values that the format cannot express; the writer's comment says
                                         // which
    std::vector<std::string> damaged{};  // "name@mode:index" of values that could not be read
};

}  // namespace spotter::inline SPOTTER_ABI
