// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a model that relies on a few features. docs/rules.md#feature_importance_overweight
#pragma once

#include <spotter/rule/builtin/importances.hpp>
#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the `nfeatures` largest importances of a tensor sum to more than `threshold` of all. Not judged with
// `nfeatures` features or fewer, whose share is always 1. Train steps only.
struct feature_importance_overweight {
    using kind = rule_kind;
    static constexpr std::string_view name = "feature_importance_overweight";
    static constexpr std::string_view remedy =
        "Lower the depth limit; check dominant features for leakage; drop features that carry nothing.";
    static constexpr mode judged_in = mode::train;

    selector select = role::importance;
    double threshold = 0.8;       // fraction of the sum; AWS FeatureImportanceOverweight
    std::uint64_t nfeatures = 3;  // AWS

    [[nodiscard]] static constexpr feature_importance_overweight sagemaker_defaults() noexcept { return {}; }

    struct scratch {
        slot_array<double> largest;  // in descending order
    };
    struct share_of_largest : judged_value {  // includes the most important feature
        std::size_t first = 0;                // the most important feature
        double alone = 0;                     // its share
    };
    static constexpr stats_mask watched = importances::needs;
    [[nodiscard]] constexpr bool prepare(scratch& own, tensor_info const& tensor) const noexcept {
        return nfeatures >= tensor.shape.elements() || own.largest.grow(static_cast<std::size_t>(nfeatures));
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of(name, nfeatures); }
    // Pushes the sum of the largest, the index of the first of them, and its value.
    constexpr void extract(scratch& own, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        importances const all{it};
        auto const wanted = static_cast<std::size_t>(nfeatures);
        // There is room since the declaration, unless the tensor has more features now.
        if (!all.known || all.features <= nfeatures) { return; }
        if (!own.largest.grow(wanted)) { return out.give_up(); }
        std::size_t first = 0;
        double const most = sum_of_largest(own.largest, wanted, values, first);
        out.push(most);
        out.push(static_cast<double>(first));
        out.push(wanted > 0 ? own.largest[0] : 0);
    }
    [[nodiscard]] constexpr share_of_largest judge(observation const& it,
                                                   std::span<double const> largest) const noexcept {
        if (largest.size() != 3) { return {}; }
        importances const all{it};
        for (double const& each : largest) {
            if (!is_finite(each) || !(each >= 0)) { return {}; }
        }
        bool const in_range = largest[1] < static_cast<double>(it.stats.count);
        if (!all.known || all.features <= nfeatures || !in_range) { return {}; }
        double const share = share_of(largest[0], all.total);
        return {judged_value{share, share > threshold}, static_cast<std::size_t>(largest[1]),
                share_of(largest[2], all.total)};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, share_of_largest const& first) const noexcept {
        finding it =
            who.as_finding("a few features outweigh all others", "share of the largest", relation::greater, threshold);
        it.detail << "element " << first.first << " alone " << first.alone;
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "no more than `nfeatures` features, a sum of zero, or values not recorded";
    }

private:
    [[nodiscard]] SPOTTER_STRICT static constexpr double share_of(double const& part, double const& all) noexcept {
        SPOTTER_STRICT_BODY
        return part / all;
    }
    // Adds from the largest down, so that the sum does not depend on the order of features. `first` is the index of the
    // largest; among equals the first.
    [[nodiscard]] SPOTTER_STRICT static constexpr double sum_of_largest(slot_array<double>& largest, std::size_t wanted,
                                                                        tensor_ref const& values,
                                                                        std::size_t& first) noexcept {
        SPOTTER_STRICT_BODY
        std::size_t count = 0;
        importances::each(values, [&](std::size_t index, double value) {
            if (wanted == 0 || (count == wanted && !(value > largest[count - 1]))) { return; }
            std::size_t place = count < wanted ? count++ : count - 1;
            for (; place > 0 && value > largest[place - 1]; --place) { largest[place] = largest[place - 1]; }
            largest[place] = value;
            if (place == 0) { first = index; }
        });
        double added = 0;
        for (std::size_t i = 0; i < count; ++i) { added += largest[i]; }
        return added;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
