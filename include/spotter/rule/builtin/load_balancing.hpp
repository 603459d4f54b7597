// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): GPUs of one run with unequal load. docs/rules.md#load_balancing
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/series.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the utilisations of two GPUs differ by more than `threshold`. They are compared over their last `window`
// samples as histograms of 50 bins of 0.02, by the Jensen-Shannon distance: the root of the mean divergence of both
// from their mean, in nats. 0: equal; 0.83 (the root of ln 2): no overlap (Endres and Schindelin 2003, IEEE Trans. Inf.
// Theory 49, 1858). A GPU that was never busy is left out; a GPU is judged once it has more than `patience` samples.
struct load_balancing {
    using kind = rule_kind;
    static constexpr std::string_view name = "load_balancing";
    static constexpr std::string_view remedy = "Give each GPU as much to do: even batches, layers of even cost, data "
                                               "that is as long; look at the rank of the named one.";

    selector select = "sys/gpu_util/*";
    double threshold = 0.5;        // nats to the power of 1/2
    std::uint64_t patience = 120;  // samples
    std::uint64_t window = 1000;   // samples

    [[nodiscard]] static constexpr load_balancing sagemaker_defaults() noexcept { return {.patience = 1000}; }

    static constexpr std::size_t bins = 50;  // of utilisation, 0 to 1
    struct gpu {                             // of one GPU
        recent_values recent;                // shares of time, of the last `window` samples
        std::uint32_t counts[bins]{};        // of those samples, by bin
        std::uint64_t samples = 0;           // so far
        bool used = false;                   // it was above 0 once
    };
    struct state {
        per_tensor<gpu> all;
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum | stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        gpu* const mine = seen.all.declare(tensor);
        return mine != nullptr && mine->recent.keep(window);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const busy = mean(it.stats);
        gpu* const mine = seen.all.find(it.tensor.id);
        if (mine == nullptr || !busy.known || !(busy.value >= 0)) { return; }
        if (mine->recent.full()) { --mine->counts[bin_of(mine->recent[0])]; }
        mine->recent.add(busy.value);
        ++mine->counts[bin_of(busy.value)];
        ++mine->samples;
        mine->used = mine->used || busy.value > 0;
        (void)seen.all.touch(it.tensor.id);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        std::span<tensor_id const> const at = seen.all.touched();
        std::size_t pairs = 0;
        double most = -1;
        tensor_id one = 0, other = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
            for (std::size_t j = i + 1; j < at.size(); ++j) {
                gpu const &a = seen.all[at[i]], &b = seen.all[at[j]];
                if (!counts(a) || !counts(b)) { continue; }
                ++pairs;
                double const apart = distance_of(a, b);
                if (apart > most) { most = apart, one = at[i], other = at[j]; }
            }
        }
        seen.all.clear();
        if (pairs == 0) { return truth::undecided; }
        if (!(most > threshold)) { return truth::no; }
        violation const found{.tensor = seen.all.name_of(other), .measured = most, .count = 1};
        finding it =
            found.as_finding("GPUs do not work alike", "distance of their utilisations", relation::greater, threshold);
        it.detail << "from " << seen.all.name_of(one);
        out.push(it);
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return select.malformed(); }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "fewer than two GPUs at work for more than `patience` samples";
    }

private:
    [[nodiscard]] static constexpr std::size_t bin_of(double busy) noexcept {
        return busy >= 1 ? bins - 1 : static_cast<std::size_t>(busy * bins);
    }
    [[nodiscard]] constexpr bool counts(gpu const& it) const noexcept { return it.used && it.samples > patience; }
    // Counts 0 log 0 as 0.
    [[nodiscard]] SPOTTER_STRICT static constexpr double divergence(double share, double middle) noexcept {
        SPOTTER_STRICT_BODY
        double part = share > 0 ? share * natural_log(share / middle) : 0;
        force_rounding(part);
        return part;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double distance_of(gpu const& a, gpu const& b) noexcept {
        SPOTTER_STRICT_BODY
        double total = 0;
        for (std::size_t i = 0; i < bins; ++i) {
            double const p = static_cast<double>(a.counts[i]) / static_cast<double>(a.recent.size());
            double const q = static_cast<double>(b.counts[i]) / static_cast<double>(b.recent.size());
            double const middle = (p + q) / 2;
            total += divergence(p, middle) + divergence(q, middle);
        }
        return total > 0 ? square_root(total / 2) : 0;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
