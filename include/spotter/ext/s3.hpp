// SPDX-License-Identifier: Apache-2.0
// Ext (L6): runs in object storage: mirrored while they are recorded, and read from there. Needs libcurl 7.85 and
// OpenSSL's libcrypto.
#pragma once

#include <spotter/ext/s3/download.hpp>
#include <spotter/ext/s3/mirror.hpp>
#if SPOTTER_EXCEPTIONS
#include <spotter/ext/s3/files.hpp>

namespace spotter::inline SPOTTER_ABI::s3 {

namespace detail {

// One store for the process, from the environment at the first call.
[[nodiscard]] inline result<file_system*> open_store() noexcept {
    try {
        static std::mutex guard;
        static std::unique_ptr<store_files> files;
        std::scoped_lock const held{guard};
        if (!files) {
            auto how = settings_here();
            if (!how) { return how.error(); }
            files = std::make_unique<store_files>(*std::move(how));
        }
        return files.get();
    } catch (...) { return error{errc::out_of_memory, "no memory to read from an object store"}; }
}

// Makes `open_trial("s3://bucket/run")` read from there.
inline bool const is_registered = (s3_opener = &open_store, true);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI::s3
#endif
