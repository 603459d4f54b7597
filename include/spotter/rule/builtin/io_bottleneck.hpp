// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): GPUs that idle while the processor waits for disks. docs/rules.md#io_bottleneck
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/bottleneck.hpp>
#include <spotter/rule/builtin/mean_of_all.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when a GPU is below `gpu_threshold` while the cores spend more than `io_threshold` of their time waiting for
// disks: in more than `threshold` of all samples, and in more than `patience` of them.
struct io_bottleneck {
    using kind = rule_kind;
    static constexpr std::string_view name = "io_bottleneck";
    static constexpr std::string_view remedy =
        "Read ahead, keep the data on a faster or nearer disk, or in fewer and larger files: the GPU waits for it.";

    selector select = "sys/io_wait";
    selector gpu = "sys/gpu_util/*";  // shares of time, one tensor a GPU
    double threshold = 0.5;           // share of samples
    double gpu_threshold = 0.1;       // share of time
    double io_threshold = 0.5;        // share of the time of all cores
    std::uint64_t patience = 120;     // samples

    [[nodiscard]] static constexpr io_bottleneck sagemaker_defaults() noexcept { return {.patience = 1000}; }

    struct state {
        bottleneck_count count;
        slot_array<bool> is_gpu;  // by tensor id
        mean_of_all waiting;      // of the cores, in this step
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum | stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return gpu(tensor) ? stats_mask::sum | stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (!seen.is_gpu.grow(tensor.id + std::size_t{1})) { return false; }
        seen.is_gpu[tensor.id] = gpu(tensor);
        return seen.count.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (!seen.is_gpu.holds(it.tensor.id)) { return; }
        if (seen.is_gpu[it.tensor.id]) { return seen.count.see_gpu(it, gpu_threshold); }
        seen.waiting.add(it.stats);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        measurement const waiting = seen.waiting.take();
        if (waiting.known) { seen.count.see_other(waiting.value > io_threshold); }
        return seen.count.tell(seen.count.close(), threshold, patience, "GPUs idle while disks are waited for",
                               "a GPU is idle while cores wait for disks", out);
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return select.malformed().empty() ? gpu.malformed() : select.malformed();
    }
    [[nodiscard]] constexpr std::string_view silence(state const& seen) const noexcept { return seen.count.silence(); }
};

}  // namespace spotter::inline SPOTTER_ABI
