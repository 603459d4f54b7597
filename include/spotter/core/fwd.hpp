// SPDX-License-Identifier: Apache-2.0
// Forward declarations of core (L0).
#pragma once

#include <spotter/core/link.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

static_assert(std::endian::native == std::endian::little,
              "spotter: big-endian machines are not supported: values are taken apart, and files written, as "
              "little-endian ones have them");

using tensor_id = std::uint32_t;  // dense, from 0, in the order of first observation; unique within a run and worker

enum class dtype : std::uint8_t;
enum class errc : std::uint8_t;
enum class mode : std::uint8_t;
enum class order : std::uint8_t;
enum class role : std::uint8_t;
enum class truth : std::uint8_t;

struct error;
struct extents;
class feature_list;
struct observation;
struct run_info;
struct selector;
struct step_id;
struct summary;       // defined in stat, part of an observation
struct distribution;  // likewise
struct tensor_info;
struct tensor_ref;

// The default argument of a function template that needs no parameter: only files that call it compile its body, not
// all that include it (SPOTTER_WHERE_CALLED).
struct only_where_called;

template <class Value>
class result;
template <std::size_t Capacity>
class text;
template <class Value>
class slot_array;
template <class Tensor>
struct tensor_access;

}  // namespace spotter::inline SPOTTER_ABI
