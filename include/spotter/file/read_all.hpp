// SPDX-License-Identifier: Apache-2.0
// File (L1): reads a whole file without mapping it: truncation leads to fewer bytes, not to a signal.
#pragma once

#include <spotter/file/file_system.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// `Bytes`: a std::string, or a vector of bytes; throws if memory is exhausted.
template <class Bytes>
[[nodiscard]] error read_all(file_system& files, std::string_view path, Bytes& into) {
    auto const size = files.size_of(path);
    if (!size) { return size.error(); }
    into.resize(static_cast<std::size_t>(*size));
    auto const read = files.read(path, 0, std::as_writable_bytes(std::span{into}));
    into.resize(read ? *read : 0);
    return read.error();
}

}  // namespace spotter::inline SPOTTER_ABI::detail
