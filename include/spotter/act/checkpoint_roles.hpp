// SPDX-License-Identifier: Apache-2.0
// Act (L6): which tensors of a net a checkpoint needs, and the errors of a net that throws when it shows them.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/core/role.hpp>
#include <spotter/trial/no_memory.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Whether each batch makes a tensor of a net anew, by the role that the net gives. To go on, nobody needs it.
template <class... Flags>
[[nodiscard]] constexpr bool is_of_batch(std::string_view, role what, Flags...) noexcept {
    return what == role::gradient || what == role::input || what == role::label || what == role::prediction ||
           what == role::preactivation || what == role::activation || what == role::loss;
}
// By the role that its name says: gradients (`grad/fc1/w`), what is in `act/`, `pre/` or `relu/`, and of the rest only
// whole names (`input`, `pred`, `loss`). A net may have state under any other: `input/ln/scale`, `best_loss`.
template <class... Flags>
[[nodiscard]] constexpr bool is_of_batch(std::string_view name, Flags...) noexcept {
    role const what = guess_role(name);
    if (what == role::gradient) { return true; }
    bool const is_signal = name.starts_with("act/") || name.starts_with("pre/") || name.starts_with("relu/");
    role const last = guess_role(name.substr(name.find_last_of("/.") + 1));
    bool const is_parameter = last == role::weight || last == role::bias;
    return is_of_batch(name, what) && !is_parameter && (is_signal || name.find_first_of("/._") == name.npos);
}

// Returns visit(), or the error of what it threw: out_of_memory with the sentence `lack`, or user_code_threw.
template <class Visit>
[[nodiscard]] error answer_of_net(Visit const& visit, char const* lack) noexcept {
    return guarded_or([&] { return answered(visit, lack); },
                      [](std::string_view said) {
                          error why{errc::user_code_threw, "visit_tensors threw an exception"};
                          if (!said.empty()) { why.what << ". It says: " << said.substr(0, 160); }
                          return why;
                      });
}

}  // namespace spotter::inline SPOTTER_ABI::detail
