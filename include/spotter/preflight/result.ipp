// SPDX-License-Identifier: Apache-2.0
// The bodies of result.hpp.
#pragma once

#include <spotter/preflight/result.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY text<320> gradient_verdict::line() const noexcept {
    text<320> made;
    made << (gradient == gradient_proof::right ? "right " : gradient == gradient_proof::wrong ? "wrong " : "unproven ");
    return made << error << ' ' << resolution << ' ' << name;
}

SPOTTER_BODY text<232> preflight_result::sentence() const noexcept {
    text<232> made;
    std::size_t const right = count(gradient_proof::right), wrong = count(gradient_proof::wrong),
                      open = count(gradient_proof::not_proven);
    made << right << " of " << right + wrong + open << " gradients are right";
    if (wrong > 0) { made << ", " << wrong << " wrong"; }
    if (open > 0) { made << ", " << open << " not proven"; }
    made << "; ";
    if (first() == preflight_cause::none) {
        made << "nothing was found wrong";
    } else {
        made << "first of what is wrong: " << name_of(first());
    }
    return made << "; " << passes_ << " passes, " << updates_ << " updates";
}

}  // namespace spotter::inline SPOTTER_ABI
