// SPDX-License-Identifier: Apache-2.0
// Hook (L3): `"loss"_t = x`, a name with its values.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/source.hpp>
#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// A view of `values` under a name, for the duration of the call it is an argument of.
struct named_tensor {
    std::string_view name;
    offered values;
};

struct tensor_name {
    std::string_view name;

    template <class Tensor>
    [[nodiscard]] constexpr named_tensor operator=(Tensor const& values) const noexcept {
        return {name, offer(values)};
    }
};

inline namespace literals {
[[nodiscard]] consteval tensor_name operator""_t(char const* name, std::size_t size) noexcept { return {{name, size}}; }
}  // namespace literals

}  // namespace spotter::inline SPOTTER_ABI
