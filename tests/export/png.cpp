// SPDX-License-Identifier: Apache-2.0
// Pictures made from tensors, and PNG files that other readers accept.
#include <spotter/export/png.hpp>

#include <tests/export/numpy.hpp>

#include <limits>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("png: which axes are pictures") {
    std::vector<float> const values(2 * 4 * 6 * 3, 0.5F);
    auto const sizes = [&](extents shape, std::optional<picture_shape> reported = {}) {
        std::vector<std::uint32_t> found;
        auto const all = pictures_of(view_of(values.data(), shape), 100, reported);
        if (!all.empty()) {
            found = {static_cast<std::uint32_t>(all.size()), all[0].height, all[0].width, all[0].channels};
        }
        return found;
    };
    using list = std::vector<std::uint32_t>;
    CHECK(sizes({2, 4, 6, 3}) == list{2, 4, 6, 3});
    CHECK(sizes({2, 3, 4, 6}) == list{2, 4, 6, 3});
    CHECK(sizes({2, 1, 4, 6}) == list{2, 4, 6, 1});
    CHECK(sizes({4, 6, 3}) == list{1, 4, 6, 3});
    CHECK(sizes({2, 4, 6}) == list{2, 4, 6, 1});
    CHECK(sizes({2, 24}) == list{});
    CHECK(sizes({2, 2, 4, 6}) == list{});
    CHECK(sizes({2, 24}, picture_shape{4, 6, 1}) == list{2, 4, 6, 1});
    CHECK(sizes({2, 72}, picture_shape{4, 6, 3}) == list{2, 4, 6, 3});
    CHECK(sizes({2, 24}, picture_shape{5, 5, 1}) == list{});
    CHECK(sizes({0, 4, 6}) == list{});
    CHECK(pictures_of(view_of(values.data(), {2, 4, 6}), 1).size() == 1);
}

TEST_CASE("png: channels first and columns first give the same picture") {
    std::vector<std::uint8_t> last, first(2 * 2 * 3), columns(2 * 2 * 3);
    for (std::uint8_t i = 0; i < 12; ++i) { last.push_back(i); }
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
            first[c * 4 + i] = last[i * 3 + c];
            columns[i / 2 + 2 * (i % 2) + 4 * c] = last[i * 3 + c];
        }
    }
    std::string const pixels = pictures_of(view_of(last, {1, 2, 2, 3}), 1).at(0).pixels;
    CHECK(pixels == std::string(last.begin(), last.end()));
    CHECK(pictures_of(view_of(first, {1, 3, 2, 2}), 1).at(0).pixels == pixels);
    CHECK(pictures_of(view_of(columns, {1, 2, 2, 3}, order::column_major), 1).at(0).pixels == pixels);
}

TEST_CASE("png: values become shades; what is not finite is black [D24]") {
    auto const shades = [](std::vector<float> const& values) {
        std::vector<int> found;
        auto const all = pictures_of(view_of(values, {1, 1, values.size()}), 1);
        for (char const each : all.at(0).pixels) { found.push_back(static_cast<unsigned char>(each)); }
        return found;
    };
    float const nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    CHECK(shades({0, 0.5F, 1, nan, inf}) == std::vector<int>{0, 128, 255, 0, 0});
    CHECK(shades({0, 7, 255, 16, 2}) == std::vector<int>{0, 7, 255, 16, 2});
    CHECK(shades({-1, 0, 1, 3, 0}) == std::vector<int>{0, 64, 128, 255, 64});
    CHECK(shades({-2, -2, -2, -2, -2}) == std::vector<int>(5, 0));
}

TEST_CASE("png: a file of any size is read by another program") {
    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python was found"); }
    temporary_folder const folder;
    picture big{300, 400, 3, {}};  // more than one stored block
    for (std::uint32_t i = 0; i < 300 * 400 * 3; ++i) { big.pixels += static_cast<char>(i * 7 % 251); }
    std::string const file = png_of(big);
    write_file(folder / "x.png", {file.begin(), file.end()});
    constexpr char program[] = R"(
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
assert data[:8] == b'\x89PNG\r\n\x1a\n'
at, chunks = 8, {}
while at < len(data):
    size, kind = struct.unpack('>I4s', data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    assert struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
    chunks[kind] = body
    at += 12 + size
print(struct.unpack('>IIBBBBB', chunks[b'IHDR']), len(chunks[b'IEND']))
rows = zlib.decompress(chunks[b'IDAT'])
want = bytes(i * 7 % 251 for i in range(300 * 400 * 3))
print(b''.join(rows[y * 901 + 1:(y + 1) * 901] for y in range(400)) == want, set(rows[::901]))
)";
    CHECK(ask_python(python, folder / "", folder / "x.png", program) == "(300, 400, 8, 2, 0, 0, 0) 0\nTrue {0}\n");
}
