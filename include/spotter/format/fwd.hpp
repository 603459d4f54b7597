// SPDX-License-Identifier: Apache-2.0
// Forward declarations of format (L1).
#pragma once

#include <spotter/core/fwd.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

using byte_view = std::span<std::byte const>;  // read-only and not owned

class byte_buffer;
class byte_reader;
class byte_writer;
class frame_walker;
class payload_packer;
class payload_unpacker;
class row_reader;
struct frame_place;
struct payload_place;
struct row_frame;
struct row_view;
struct segment_head;

}  // namespace spotter::inline SPOTTER_ABI
