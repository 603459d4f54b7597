// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): shared by the rules on idle GPUs: how often a GPU was idle while another resource was busy.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// The samples of a close are one snapshot. A GPU counts from the first sample in which it was busy on; a GPU that was
// never busy is not used by this run. Snapshots without such a GPU, or without the other resource, are not counted.
class bottleneck_count {
public:
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        return used_.grow(tensor.id + std::size_t{1});
    }
    // One sample of a GPU, which is idle below `idle_below`, a share of time.
    constexpr void see_gpu(observation const& it, double idle_below) noexcept {
        measurement const busy = mean(it.stats);
        if (!busy.known || !used_.holds(it.tensor.id)) { return; }
        used_[it.tensor.id] = used_[it.tensor.id] || busy.value > 0;
        if (!used_[it.tensor.id]) { return; }
        any_used_ = any_ = true;
        if (busy.value < idle_below && !std::exchange(idle_, true)) { gpu_ = it.tensor.name; }
    }
    // One sample of the other resource, and whether it is at its limit.
    constexpr void see_other(bool at_its_limit) noexcept {
        seen_ = true;
        limited_ = limited_ || at_its_limit;
    }
    // Ends the snapshot. Returns the share of counted snapshots with both an idle GPU and a busy resource; negative
    // where this snapshot does not count.
    [[nodiscard]] constexpr double close() noexcept {
        bool const counts = any_ && seen_, both = idle_ && limited_;
        any_ = seen_ = idle_ = limited_ = false;
        if (!counts) { return -1; }
        ++snapshots_;
        hits_ += both ? 1 : 0;
        return static_cast<double>(hits_) / static_cast<double>(snapshots_);
    }
    [[nodiscard]] constexpr std::string_view gpu() const noexcept { return gpu_; }  // the last idle one
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return !any_used_ ? "no GPU was at work: its samples are `sys/gpu_util/0`"
                          : "warm-up not reached: `patience` snapshots";
    }
    // Pushes the finding if there are enough snapshots and the share is above the threshold.
    constexpr truth tell(double share, double threshold, std::uint64_t patience, std::string_view reason,
                         std::string_view other, findings& out) const noexcept {
        if (share < 0 || snapshots_ <= patience) { return truth::undecided; }
        if (!(share > threshold)) { return truth::no; }
        violation const found{.tensor = gpu_, .measured = share, .count = 1};
        finding it = found.as_finding(reason, "share of samples", relation::greater, threshold);
        it.detail << other;
        out.push(it);
        return truth::yes;
    }

private:
    slot_array<bool> used_;  // by tensor id
    std::uint64_t snapshots_ = 0, hits_ = 0;
    bool any_used_ = false;
    bool any_ = false, seen_ = false, idle_ = false, limited_ = false;  // of the current snapshot
    std::string_view gpu_{};
};

}  // namespace spotter::inline SPOTTER_ABI
