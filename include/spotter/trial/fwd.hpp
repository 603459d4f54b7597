// SPDX-License-Identifier: Apache-2.0
// Forward declarations of trial (L4).
#pragma once

#include <spotter/format/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

class recorded_value;
class run_index;
class track;
class trial;
class worker_list;
class worker_reader;
class worker_track;
struct filter;
struct worker;

template <class Tensor>
struct tensor_from;

}  // namespace spotter::inline SPOTTER_ABI
