// SPDX-License-Identifier: Apache-2.0
// File (L1): the machine's own files, whichever system it is.
#pragma once

#if defined(_WIN32)
#include <spotter/file/windows.hpp>
#else
#include <spotter/file/posix.hpp>
#endif

namespace spotter::inline SPOTTER_ABI {

#if defined(_WIN32)
using machine_file_system = windows_file_system;  // what system_files() is
#else
using machine_file_system = posix_file_system;  // what system_files() is
#endif

// The machine's files. Without state, so it is shared and may be used at any time.
[[nodiscard]] file_system& system_files() noexcept;

// What reads paths that begin with `s3://`: set by spotter/ext/s3.hpp, where that is included.
using file_system_opener = result<file_system*> (*)() noexcept;
// Null: such paths are refused. Set before `main`, and not changed.
inline file_system_opener s3_opener = nullptr;

// Whose a path is that may begin with a scheme. errc::bad_config where nothing here reads it, or what does cannot
// begin.
[[nodiscard]] result<file_system*> files_at(std::string_view path) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/system.ipp>
#endif
