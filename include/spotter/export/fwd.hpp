// SPDX-License-Identifier: Apache-2.0
// Forward declarations of export (L5).
#pragma once

#include <spotter/trial/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

enum class small_floats : std::uint8_t;
struct csv_series;
struct npy_type;
template <class Put>
class npz_writer;

}  // namespace spotter::inline SPOTTER_ABI
