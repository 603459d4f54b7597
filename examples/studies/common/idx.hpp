// SPDX-License-Identifier: Apache-2.0
// IDX files, as used by MNIST and its successors: two zero bytes, the element type (8: bytes), the number of axes,
// their sizes as big-endian 4-byte numbers, then the elements in row-major order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace studies {

// The content of a file, or the error.
struct idx_file {
    std::vector<std::int64_t> sizes{};
    std::vector<std::uint8_t> values{};
    std::string problem{};
};

// Reads the file at `path`: bytes with one to four axes, and nothing after them.
[[nodiscard]] inline idx_file read_idx(std::string const& path) {
    auto const refuse = [&](std::string const& why) { return idx_file{.problem = path + ": " + why}; };
    std::ifstream file{path, std::ios::binary};
    if (!file) { return refuse("cannot be opened"); }
    std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    std::string const length = std::to_string(bytes.size()) + " bytes long";
    if (bytes.size() >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B) { return refuse("is packed; gzip -dk unpacks it"); }
    if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) { return refuse("is no IDX file (" + length + ")"); }
    if (bytes[2] != 8) { return refuse("has elements of type " + std::to_string(bytes[2]) + ", expected 8, bytes"); }
    std::size_t const axes = bytes[3], head = 4 + 4 * axes;
    if (axes < 1 || axes > 4) { return refuse("has " + std::to_string(axes) + " axes, expected 1 to 4"); }
    if (bytes.size() < head) { return refuse("is cut off in its sizes (" + length + ")"); }
    idx_file result;
    std::uint64_t count = 1;
    std::string shape;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        std::uint64_t size = 0;
        for (std::size_t k = 0; k < 4; ++k) { size = size << 8U | bytes[4 + 4 * axis + k]; }
        count = size == 0 || count < bytes.size() ? count * size : count;  // a count beyond the file's size stays
                                                                           // invalid and cannot overflow
        result.sizes.push_back(static_cast<std::int64_t>(size));
        shape += (axis == 0 ? "" : " x ") + std::to_string(size);
    }
    if (bytes.size() - head != count) {
        return refuse((bytes.size() - head < count ? "is cut off: " : "has something behind its elements: ") + length +
                      ", expected " + std::to_string(head + count) + " for " + shape);
    }
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(head));
    result.values = std::move(bytes);
    return result;
}

}  // namespace studies
