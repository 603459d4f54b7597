// SPDX-License-Identifier: Apache-2.0
// Forward declarations of file (L1).
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

class file_system;
class posix_file_system;
struct opened_file;
struct file_mapping;
struct shared_memory;

}  // namespace spotter::inline SPOTTER_ABI
