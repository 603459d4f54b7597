// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a NaN or an infinity, in whatever tensor shows it first. docs/rules.md#non_finite
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

// Error at the close of any step with a non-finite value; asks to skip the update. The tensor is the first bad one in
// observation order, so in a forward-then-backward order it is where the trouble began. `measured` is the count of bad
// elements; `detail` gives the index (in storage order) of the first, and the counts.
struct non_finite {
    using kind = rule_kind;
    static constexpr std::string_view name = "non_finite";
    static constexpr std::string_view remedy =
        "Do not apply this update; inspect the inputs of the named tensor at the named index.";

    selector select = &select::everything;

    struct state {
        culprit found{};
        finding first{};
        std::uint64_t observed = 0;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::nonfinite : terms::none;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        ++seen.observed;
        if (it.stats.nonfinite() == 0) { return; }
        if (seen.found.count == 0) {
            switch (it.tensor.role) {
                case role::weight:
                case role::bias:
                    seen.first.reason = "entered from the previous step";
                    break;
                case role::input:
                    seen.first.reason = "bad input";
                    break;
                default:
                    seen.first.reason =
                        seen.observed > 1 ? "originates here" : "first tensor observed; its inputs were not";
                    break;
            }
            seen.first.detail = {};
            seen.first.detail << "first at index " << it.stats.first_bad << "; nan " << it.stats.nan << ", +inf "
                              << it.stats.pos_inf << ", -inf " << it.stats.neg_inf;
        }
        seen.found.blame(it, static_cast<double>(it.stats.nonfinite()));
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        culprit const found = std::exchange(seen.found, {});
        if (std::exchange(seen.observed, 0) == 0) { return truth::undecided; }
        if (found.count == 0) { return truth::no; }
        finding it = found.as_not_finite(seen.first.reason);
        it.detail = seen.first.detail;
        out.push(it);
        return truth::yes;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
