// SPDX-License-Identifier: Apache-2.0
// Forward declarations of export (L5).
#pragma once

#include <spotter/trial/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

enum class small_floats : std::uint8_t;
struct csv_series;
struct export_choice;
struct export_counts;
struct npy_type;
struct picture;
struct picture_choice;
struct tensorboard_options;
class event_file;
class prometheus_page;
class recorded_entry;
class recorded_steps;
class safetensors_header;
class tensorboard_sink;
class tensorboard_writer;
template <class Put>
class npz_writer;

}  // namespace spotter::inline SPOTTER_ABI
