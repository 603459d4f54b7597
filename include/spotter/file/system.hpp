// SPDX-License-Identifier: Apache-2.0
// File (L1): the local file system of this platform.
#pragma once

#if defined(_WIN32)
#include <spotter/file/windows.hpp>
#else
#include <spotter/file/posix.hpp>
#endif

namespace spotter::inline SPOTTER_ABI {

#if defined(_WIN32)
using machine_file_system = windows_file_system;  // the type of system_files()
#else
using machine_file_system = posix_file_system;  // the type of system_files()
#endif

// The local files. Stateless, so it is shared and can be used at any time.
[[nodiscard]] file_system& system_files() noexcept;

// Opens the file system of `s3://` paths: set by spotter/ext/s3.hpp, if that is included.
using file_system_opener = result<file_system*> (*)() noexcept;
// null: such paths are refused. Set before `main`, then constant.
inline file_system_opener s3_opener = nullptr;

// The file system of a path, which may begin with a scheme. errc::bad_config if the scheme is unknown, or its file
// system cannot start.
[[nodiscard]] result<file_system*> files_at(std::string_view path) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/system.ipp>
#endif
