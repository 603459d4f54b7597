// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): selects the tensors in which an agent observes its environment.
#pragma once

#include <spotter/core/event.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// Inputs, and tensors named `obs`, `obs/*`, `observation` or `observation/*`.
[[nodiscard]] constexpr bool environment_observations(tensor_info const& tensor) noexcept {
    if (tensor.role == role::input) { return true; }
    for (std::string_view name : {"obs", "observation"}) {
        if (!tensor.name.starts_with(name)) { continue; }
        std::string_view const rest = tensor.name.substr(name.size());
        if (rest.empty() || rest[0] == '/') { return true; }
    }
    return false;
}
// Only those of real numbers: pixels and encoded states have ranges of their own.
[[nodiscard]] constexpr bool real_observations(tensor_info const& tensor) noexcept {
    return environment_observations(tensor) && is_floating(tensor.type);
}

}  // namespace select

}  // namespace spotter::inline SPOTTER_ABI
