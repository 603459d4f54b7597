// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): room for a larger batch. docs/rules.md#batch_size
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/mean_of_all.hpp>
#include <spotter/rule/builtin/median.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Note when the 95th percentiles over the last `window` samples are all below their limits: of the processor (mean of
// the cores), of a GPU that was in use, and of that GPU's memory. A GPU and its memory are matched by the part of the
// name after the last slash. Judges from `patience` samples on.
struct batch_size {
    using kind = rule_kind;
    static constexpr std::string_view name = "batch_size";
    static constexpr std::string_view remedy = "Try a larger batch: processor, GPU and its memory all have room.";

    selector select = "sys/gpu_util/*";
    selector memory = "sys/gpu_mem/*";  // used share of its memory, by GPU
    selector cpu = "sys/cpu";           // shares of time, by core or their mean; in one tensor or more
    double gpu_threshold = 0.7;         // share of time
    double gpu_memory_threshold = 0.7;  // share of its memory
    double cpu_threshold = 0.7;         // share of time
    std::uint64_t window = 500;         // samples
    std::uint64_t patience = 500;       // samples

    [[nodiscard]] static constexpr batch_size sagemaker_defaults() noexcept { return {.patience = 1000}; }

    struct series {                                            // of one GPU, one GPU's memory, or the processor
        recent_values recent;                                  // shares, of the last `window` samples
        std::uint64_t samples = 0;                             // so far
        bool used = false, is_gpu = false, is_memory = false;  // used: it was above 0 once
    };
    struct state {
        per_tensor<series> all;  // GPUs and their memories
        mean_of_all cores;       // in this step
        series processor;        // the mean of the cores
        slot_array<std::uint64_t> keys;
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? sampled : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return memory(tensor) || cpu(tensor) ? sampled : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        series* const mine = seen.all.declare(tensor);
        if (mine == nullptr) { return false; }
        mine->is_gpu = select(tensor);
        mine->is_memory = memory(tensor);
        if (!mine->is_gpu && !mine->is_memory) { return keep_sortable(seen.processor.recent, window, seen.keys); }
        return keep_sortable(mine->recent, window, seen.keys);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const value = mean(it.stats);
        series* const mine = seen.all.find(it.tensor.id);
        if (mine == nullptr || !value.known) { return; }
        if (!mine->is_gpu && !mine->is_memory) { return seen.cores.add(it.stats); }
        mine->recent.add(value.value);
        ++mine->samples;
        mine->used = mine->used || value.value > 0;
        (void)seen.all.touch(it.tensor.id);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        truth idle = truth::undecided;
        if (measurement const busy = seen.cores.take(); busy.known) {
            seen.processor.recent.add(busy.value);
            if (++seen.processor.samples >= patience) {
                idle = truth_of(rank_of(seen.processor.recent, seen.keys, 0.95) < cpu_threshold);
            }
        }
        bool judged = false;
        violation found;
        each_known(seen, [&](std::string_view gpu, series const& its) {
            if (!decided(idle) || !its.is_gpu || !its.used) { return; }
            each_known(seen, [&](std::string_view other, series const& used) {
                if (!used.is_memory || !alike(gpu, other)) { return; }
                judged = true;
                double const busy = rank_of(its.recent, seen.keys, 0.95),
                             filled = rank_of(used.recent, seen.keys, 0.95);
                bool const has_room = busy < gpu_threshold && filled < gpu_memory_threshold;
                if (idle == truth::yes && has_room) { found.blame(gpu, busy); }
            });
        });
        seen.all.clear();
        if (found.count == 0) { return judged ? truth::no : truth::undecided; }
        out.push(found.as_finding("there is room for a larger batch", "95th percentile of its utilisation",
                                  relation::less, gpu_threshold, severity::info));
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        for (selector const* const each : {&select, &memory}) {
            if (!each->malformed().empty()) { return each->malformed(); }
        }
        return cpu.malformed();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "no GPU was at work, or warm-up not reached: `patience` samples of all three";
    }

private:
    // Calls `use(name, series)` for each of the step with `patience` samples.
    template <class Use>
    constexpr void each_known(state& seen, Use&& use) const noexcept {
        for (tensor_id const id : seen.all.touched()) {
            if (seen.all[id].samples >= patience) { use(seen.all.name_of(id), seen.all[id]); }
        }
    }
    static constexpr stats_mask sampled = stats_mask::sum | stats_mask::nonfinite;

    [[nodiscard]] static constexpr bool alike(std::string_view a, std::string_view b) noexcept {
        return a.substr(a.rfind('/') + 1) == b.substr(b.rfind('/') + 1);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
