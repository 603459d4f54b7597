// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): GPUs that idle while the processor is at its limit. docs/rules.md#cpu_bottleneck
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/bottleneck.hpp>
#include <spotter/stat/any_values.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when a GPU is below `gpu_threshold` while at least `min_busy` of the cores, and at least one, are above
// `cpu_threshold`: in more than `threshold` of all samples, and in more than `patience` of them. With Amazon's values
// one busy core is enough, so every single-threaded loader is reported.
struct cpu_bottleneck {
    using kind = rule_kind;
    static constexpr std::string_view name = "cpu_bottleneck";
    static constexpr std::string_view remedy =
        "Prepare batches in more threads, or ahead of time, or on the GPU: it waits for the processor.";

    selector select = "sys/cpu";      // [core]: shares of time
    selector gpu = "sys/gpu_util/*";  // shares of time, one tensor a GPU
    double threshold = 0.5;           // share of samples
    double gpu_threshold = 0.1;       // share of time
    double cpu_threshold = 0.9;       // share of time
    double min_busy = 0.5;            // share of cores
    std::uint64_t patience = 120;     // samples

    [[nodiscard]] static constexpr cpu_bottleneck sagemaker_defaults() noexcept {
        return {.min_busy = 0, .patience = 1000};
    }

    struct state {
        bottleneck_count count;
        slot_array<bool> is_gpu;     // by tensor id
        double busy = 0, cores = 0;  // in this step, of all tensors
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return gpu(tensor) ? stats_mask::sum | stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (!seen.is_gpu.grow(tensor.id + std::size_t{1})) { return false; }
        seen.is_gpu[tensor.id] = gpu(tensor);
        return seen.count.declare(tensor);
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of("busy cores", cpu_threshold); }
    constexpr void extract(state&, observation const&, tensor_ref const& values, feature& out) const noexcept {
        double busy = 0;
        visit_seen(values, [&](auto const& elements) {
            for (auto const& each : elements) {
                seen_element const it = detail::see(each);
                busy += it.kind < number_class::pos_inf && it.value > cpu_threshold ? 1 : 0;
            }
        });
        out.push(busy);
        out.push(static_cast<double>(values.count));
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        if (!seen.is_gpu.holds(it.tensor.id)) { return; }
        if (seen.is_gpu[it.tensor.id]) { return seen.count.see_gpu(it, gpu_threshold); }
        if (made.size() != 2 || !(made[1] > 0)) { return; }
        seen.busy += made[0], seen.cores += made[1];
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        double const busy = std::exchange(seen.busy, 0), cores = std::exchange(seen.cores, 0);
        if (cores > 0) { seen.count.see_other(busy >= 1 && busy / cores >= min_busy); }
        return seen.count.tell(seen.count.close(), threshold, patience, "GPUs idle while the processor is busy",
                               "a GPU is idle while cores are at their limit", out);
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return select.malformed().empty() ? gpu.malformed() : select.malformed();
    }
    [[nodiscard]] constexpr std::string_view silence(state const& seen) const noexcept { return seen.count.silence(); }
};

}  // namespace spotter::inline SPOTTER_ABI
