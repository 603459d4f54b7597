// SPDX-License-Identifier: Apache-2.0
// Export (L5): what of a run is exported, and what an exporter met.
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

// What of a run is exported: everything, where nothing is said.
struct export_choice {
    std::vector<std::string> names{};     // exact, or globs
    std::optional<spotter::mode> mode{};  // none: all
    std::optional<step_id> step{};        // none: all
    std::vector<statistic> statistics{};  // none: the usual ones, as far as they were stored

    // Always, where no names are given.
    [[nodiscard]] bool has_name(std::string_view name) const {
        return names.empty() || std::any_of(names.begin(), names.end(),
                                            [&](std::string const& each) { return each == name || glob{each}(name); });
    }
    // Of the mode and the step that are asked for.
    [[nodiscard]] bool has_step(step_id each) const noexcept {
        return (!step || each == *step) && (!mode || each.mode == *mode);
    }
};

// What an exporter met; more of a run that is followed.
struct export_counts {
    std::uint64_t steps = 0;             // closings
    std::uint64_t values = 0;            // numbers, texts, histograms, pictures
    std::uint64_t left_out = 0;          // of these, what the format cannot say; the writer's comment says which
    std::vector<std::string> damaged{};  // "name@mode:index" of values that could not be read
};

}  // namespace spotter::inline SPOTTER_ABI
