// SPDX-License-Identifier: Apache-2.0
// Workbench, export: why a tensor cannot be in a .npy file.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/tensor_ref.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] error npy_refusal(tensor_ref const& tensor) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail
