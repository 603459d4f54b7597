// SPDX-License-Identifier: Apache-2.0
// Rule (L2): a finding's measured value and threshold as text, with enough digits for the printed inequality to be
// true.
#pragma once

#include <spotter/core/text.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI {

// Both numbers of a finding as they are printed: with three digits each (core/text.hpp), and with more where three
// would not show which is larger: "0.57912 > 0.579", never "0.579 > 0.579". When read back, the two compare as the
// original numbers do.
struct inequality {
    text<32> measured{}, threshold{};
};
[[nodiscard]] inequality inequality_of(double measured, double threshold) noexcept;

// Writes `0.57912 > 0.579`; for a finding without a threshold only the measured value.
template <class Out>
void write_inequality(finding const& it, Out&& out) {
    if (it.how == relation::none) {
        text<32> measured;
        measured << it.measured;
        return out(measured.view());
    }
    inequality const numbers = inequality_of(it.measured, it.threshold);
    out(numbers.measured.view()), out(" "), out(symbol_of(it.how)), out(" "), out(numbers.threshold.view());
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/rule/inequality.ipp>
#endif
