// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): too few or too many workers that prepare data. docs/rules.md#dataloader
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/builtin/median.hpp>

namespace spotter::inline SPOTTER_ABI {

// Note when the number of workers that prepare data, divided by the number of cores, is below `min_threshold` or above
// `max_threshold`, as the median over the last `window` samples. Judges from `patience` samples on. Only the program
// knows the number of workers: system_options::fill passes it.
struct dataloader {
    using kind = rule_kind;
    static constexpr std::string_view name = "dataloader";
    static constexpr std::string_view remedy = "Prepare data in about as many threads or processes as there are cores.";

    selector select = "sys/loader_workers";
    selector cpu = "sys/cpu";     // [core]
    double min_threshold = 0.7;   // workers a core
    double max_threshold = 2;     // workers a core
    std::uint64_t patience = 10;  // samples
    std::uint64_t window = 60;    // samples
    static constexpr bool counts_patience = true;

    [[nodiscard]] static constexpr dataloader sagemaker_defaults() noexcept { return {}; }

    struct kept {
        recent_values workers;
        std::uint64_t samples = 0;  // of the whole run
        bool is_cpu = false;
        double cores = 0;  // that it shows
    };
    struct scratch {
        slot_array<std::uint64_t> keys;
        double cores = 0;  // of all tensors
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum | stats_mask::nonfinite
               : cpu(tensor)  ? stats_mask::shape
                              : stats_mask::none;
    }
    [[nodiscard]] constexpr bool prepare(kept& mine, scratch& own, tensor_info const& tensor) const noexcept {
        mine.is_cpu = !select(tensor);
        return mine.is_cpu || keep_sortable(mine.workers, window, own.keys);
    }
    [[nodiscard]] constexpr judged_value judge(kept& mine, scratch& own, observation const& it) const noexcept {
        if (mine.is_cpu) {
            double const cores = static_cast<double>(it.view.shape.elements());
            own.cores += cores - std::exchange(mine.cores, cores);
            return {};
        }
        measurement const workers = mean(it.stats);
        if (!workers.known || !(own.cores > 0)) { return {}; }
        mine.workers.add(workers.value);
        if (++mine.samples < patience) { return {}; }
        double const usual = median_of(mine.workers, own.keys, [&](double each) { return each / own.cores; });
        return {usual, usual < min_threshold || usual > max_threshold};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        bool const few = who.measured < min_threshold;
        return who.as_finding(few ? "few workers prepare data" : "many workers prepare data", "workers a core",
                              few ? relation::less : relation::greater, few ? min_threshold : max_threshold,
                              severity::info);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "no number of workers beside the cores, or fewer than `patience` samples";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
