// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): features that carry next to nothing. docs/rules.md#low_feature_importance
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/importances.hpp>
#include <spotter/rule/builtin/streaks.hpp>

namespace spotter::inline SPOTTER_ABI {

// A feature is low where its share of the sum of all importances is below `relative` times 1/F, the share it had if all F features
// counted alike. Info when more than `max_low` of the features are low, after `warmup` observations of the tensor: the first
// tree cannot know many. Train steps only.
struct low_feature_importance {
    using kind = rule_kind;
    static constexpr std::string_view name = "low_feature_importance";
    static constexpr std::string_view remedy =
        "Lower the depth limit; check dominant features for leakage; drop features that carry nothing.";
    static constexpr mode judged_in = mode::train;

    selector select = role::importance;
    double relative = 0.1;     // times 1/F
    double max_low = 0.5;      // fraction of the features
    std::uint64_t warmup = 1;  // observations

    struct state {
        slots<std::uint64_t> count;  // observations, by tensor id
        close_answer answer;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? importances::needs : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.count.grow(tensor.id + std::size_t{1});
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of(name, relative); }
    // How many are low.
    constexpr void extract(state&, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        importances const all{it};
        if (all.known) { out.push(static_cast<double>(count_low(all, values))); }
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> low) const noexcept {
        if (it.step.mode != mode::train || !seen.count.holds(it.tensor.id)) { return; }
        if (seen.count[it.tensor.id]++ < warmup) { return; }
        importances const all{it};
        auto const features = static_cast<double>(all.features);
        if (!all.known || low.size() != 1 || !is_finite(low[0]) || !(low[0] >= 0) || low[0] > features) { return; }
        double const share = share_of(low[0], features);
        seen.answer.judged = true;
        if (share > max_low) { seen.answer.found.blame(it, share); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        culprit found;
        truth const answer = seen.answer.take(found);
        if (answer == truth::yes) {
            finding it = found.as_finding("share of low features", relation::greater, max_low, severity::info);
            it.reason = "most features carry next to nothing";
            out.push(it);
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached, a sum of zero, or values not recorded";
    }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr std::uint64_t count_low(importances const& all,
                                                                   tensor_ref const& values) const noexcept {
        SPOTTER_STRICT_BODY
        double const limit = all.total * relative / static_cast<double>(all.features);
        std::uint64_t low = 0;
        importances::each(values, [&](std::size_t, double value) { low += value < limit ? 1U : 0U; });
        return low;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double share_of(double const& part, double const& all) noexcept {
        SPOTTER_STRICT_BODY
        return part / all;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
