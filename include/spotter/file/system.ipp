// SPDX-License-Identifier: Apache-2.0
// The bodies of system.hpp.
#pragma once

#include <spotter/file/system.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY file_system& system_files() noexcept {
    static machine_file_system files;
    return files;
}

SPOTTER_BODY result<file_system*> files_at(std::string_view path) noexcept {
    if (!path.starts_with("s3://")) { return &system_files(); }
    if (s3_opener != nullptr) { return s3_opener(); }
    return {errc::bad_config,
            "this program reads no s3:// places: include <spotter/ext/s3.hpp>, or build the tool where libcurl and "
            "OpenSSL were found"};
}

}  // namespace spotter::inline SPOTTER_ABI
