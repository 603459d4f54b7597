// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): values that overflow in the format in which they will be stored.
// docs/rules.md#low_precision_overflow
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/builtin/precision_limits.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when a finite element becomes infinite or NaN in the format `to`. Training is not affected, but a checkpoint
// or a copy in that format would be broken. Elements that are not finite already belong to non_finite.
struct low_precision_overflow {
    using kind = rule_kind;
    static constexpr std::string_view name = "low_precision_overflow";
    static constexpr std::string_view remedy = "Keep this tensor in a wider format, in bf16 or f32, or scale it.";

    selector select = &select::weights;
    dtype to = dtype::f16;  // f16, bf16, f8_e4m3 or f8_e5m2

    static constexpr stats_mask watched = stats_mask::range;
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        precision_limits const limits = precision_limits::of(to);
        measurement const least = minimum(it.stats), most = maximum(it.stats);
        if (!limits.known || !least.known || !most.known) { return {}; }
        double const size =
            magnitude(least.value) > magnitude(most.value) ? magnitude(least.value) : magnitude(most.value);
        return {size, limits.overflows(size)};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        precision_limits const limits = precision_limits::of(to);
        finding it = who.as_finding("beyond what the format can hold", "largest |x|",
                                    limits.exclusive ? relation::greater : relation::greater_equal, limits.overflow);
        it.detail << "as " << name_of(to);
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "no finite elements, or `to` is none of f16, bf16, f8_e4m3 and f8_e5m2";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
