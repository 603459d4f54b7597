// SPDX-License-Identifier: Apache-2.0
// Act (L6): which tensors of a net a checkpoint needs.
#pragma once

#include <spotter/core/role.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Whether each batch makes a tensor of a net anew, by the role that the net gives. To go on, nobody needs it.
template <class... Flags>
[[nodiscard]] constexpr bool is_of_batch(std::string_view, role what, Flags...) noexcept {
    return what == role::gradient || what == role::input || what == role::label || what == role::prediction ||
           what == role::preactivation || what == role::activation || what == role::loss;
}
// By the role that its name says. The weights of a layer that is called `input` or `pred` are not of a batch.
template <class... Flags>
[[nodiscard]] constexpr bool is_of_batch(std::string_view name, Flags...) noexcept {
    role const what = guess_role(name), last = guess_role(name.substr(name.find_last_of("/.") + 1));
    bool const is_parameter = what != role::gradient && (last == role::weight || last == role::bias);
    return !is_parameter && is_of_batch(name, what);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
