// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: reads the entries of a zip archive (.npz), plain or zip64, stored or deflated; it is untrusted.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/export/crc32.hpp>

#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Unpacks a raw deflate stream into exactly the size of `into`; errc::corrupt where it is invalid or of another size.
// With zlib: diff/zlib_inflate.hpp. Null: compressed archives are refused.
using inflate_function = error (*)(std::span<std::byte const> packed, std::span<std::byte> into) noexcept;

struct zip_entry {  // one file in an archive
    std::string name{};
    std::uint64_t begin = 0;     // offset of its bytes in the archive
    std::uint64_t packed = 0;    // size there
    std::uint64_t bytes = 0;     // unpacked size
    std::uint32_t checksum = 0;  // CRC-32 of the unpacked bytes
    bool deflated = false;       // false: it is stored
};

namespace detail {

template <class Integer>
[[nodiscard]] inline Integer zip_number(std::span<std::byte const> from, std::size_t at) noexcept {
    Integer value{};
    std::memcpy(&value, from.data() + at, sizeof value);
    return value;
}

// PKWARE APPNOTE 4.3: read from the end backwards.
class zip_directory {
public:
    explicit zip_directory(std::span<std::byte const> file) noexcept : file_{file} {}

    [[nodiscard]] error read(std::vector<zip_entry>& into);

private:
    static constexpr std::uint32_t limit32 = 0xFFFFFFFF;
    static constexpr std::uint16_t limit16 = 0xFFFF;

    [[nodiscard]] error find_directory() noexcept;

    [[nodiscard]] error read_entry(std::uint64_t& at, std::vector<zip_entry>& into);

    // A wide field exists only where the narrow one says so.
    [[nodiscard]] bool read_wide_fields(std::uint64_t at, std::uint64_t left, zip_entry& it,
                                        std::uint64_t& local) const noexcept;

    // The values follow the local header, whose name and extra field have their own sizes.
    [[nodiscard]] error find_values(std::uint64_t local, zip_entry& it) const noexcept;
    [[nodiscard]] std::uint32_t number32(std::uint64_t at) const noexcept;
    [[nodiscard]] std::uint16_t number16(std::uint64_t at) const noexcept;

    std::span<std::byte const> file_;
    std::uint64_t begin_ = 0, end_ = 0;  // of the directory
    std::uint64_t entries_ = 0;
};

}  // namespace detail

// The entries of an archive, in the order of its directory. errc: corrupt, wrong_type (encrypted, or a method that
// NumPy does not use).
[[nodiscard]] result<std::vector<zip_entry>> read_zip(std::span<std::byte const> file);

// The bytes of an entry: a part of `file`, or unpacked into `buffer`. errc: corrupt (its checksum, too), bad_config (no
// inflate).
[[nodiscard]] result<std::span<std::byte const>> unzip(std::span<std::byte const> file, zip_entry const& it,
                                                       std::vector<std::byte>& buffer, inflate_function inflate);

}  // namespace spotter::inline SPOTTER_ABI
