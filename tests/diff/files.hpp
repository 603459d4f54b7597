// SPDX-License-Identifier: Apache-2.0
// Files of other programs for the tests of diff: a hand-made .safetensors file, and files that Python writes with
// NumPy.
#pragma once

#include <tests/export/numpy.hpp>

#include <cstring>
#include <span>

namespace spotter_test {

inline std::vector<char> safetensors_file(std::string_view header, std::span<std::byte const> values) {
    std::uint64_t const length = header.size();
    std::vector<char> file(sizeof length);
    std::memcpy(file.data(), &length, sizeof length);
    file.insert(file.end(), header.begin(), header.end());
    auto const* const at = reinterpret_cast<char const*>(values.data());
    file.insert(file.end(), at, at + values.size());
    return file;
}

inline std::span<std::byte const> bytes_of(std::vector<char> const& file) { return std::as_bytes(std::span{file}); }

}  // namespace spotter_test
