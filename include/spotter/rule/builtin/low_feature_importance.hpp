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
    [[nodiscard]] static constexpr std::uint64_t feature_key() noexcept { return importances::key; }
    static constexpr void extract(state&, observation const& it, tensor_ref const& values, feature& out) noexcept {
        importances::extract(it, values, out);
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> values) const noexcept {
        if (it.step.mode != mode::train || !seen.count.holds(it.tensor.id)) { return; }
        if (seen.count[it.tensor.id]++ < warmup) { return; }
        importances const all{it, values};
        if (!all.known) { return; }
        double const share = share_of_low(all);
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
    [[nodiscard]] SPOTTER_STRICT constexpr double share_of_low(importances const& all) const noexcept {
        SPOTTER_STRICT_BODY
        auto const features = static_cast<double>(all.features);
        double const limit = all.total * relative / features;
        std::uint64_t low = 0;
        all.each([&](std::size_t, double value) { low += value < limit ? 1U : 0U; });
        return static_cast<double>(low) / features;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
