// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a NaN or an infinity in a chosen tensor. docs/rules.md#exploding_tensor
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/streaks.hpp>

namespace spotter::inline SPOTTER_ABI {

// Error at the close of any step with a NaN, or an infinity unless `only_nan`, in any mode; asks to skip the update. `measured` is the
// count of such elements. `non_finite` is the same with more to say about where it came from; this one is AWS's, for a `select`.
struct exploding_tensor {
    using kind = rule_kind;
    static constexpr std::string_view name = "exploding_tensor";
    static constexpr std::string_view remedy =
        "Do not apply this update; inspect the inputs of the named tensor at the named index.";

    selector select = &select::everything;
    bool only_nan = false;  // infinities pass; AWS ExplodingTensor

    [[nodiscard]] static constexpr exploding_tensor sagemaker_defaults() noexcept { return {}; }

    struct state {
        close_answer answer;
        text<80> detail;  // of the first that is found
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::nonfinite : terms::none;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        seen.answer.judged = true;
        std::uint64_t const bad = only_nan ? it.stats.nan : it.stats.nonfinite();
        if (bad == 0) { return; }
        if (seen.answer.found.count == 0) {
            seen.detail = {};
            if (bad == it.stats.nonfinite()) { seen.detail << "first at index " << it.stats.first_bad << "; "; }
            seen.detail << "nan " << it.stats.nan << ", +inf " << it.stats.pos_inf << ", -inf " << it.stats.neg_inf;
        }
        seen.answer.found.blame(it, static_cast<double>(bad));
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        culprit found;
        truth const answer = seen.answer.take(found);
        if (answer == truth::yes) {
            finding it = only_nan ? found.as_not_finite("tensor has a NaN", "NaN elements")
                                  : found.as_not_finite("tensor is not finite");
            it.detail = seen.detail;
            out.push(it);
        }
        return answer;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
