// SPDX-License-Identifier: Apache-2.0
// The bodies of summarize.hpp.
#pragma once

#include <spotter/stat/pass.hpp>
#include <spotter/stat/summarize.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_WHERE_CALLED_BODY summary summarize(tensor_ref const& tensor, terms wanted) noexcept {
    return detail::pass_over(tensor, wanted);
}

}  // namespace spotter::inline SPOTTER_ABI
