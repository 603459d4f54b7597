// SPDX-License-Identifier: Apache-2.0
// Workbench: tensors as NumPy files: .npy, and .npz, an uncompressed zip archive of .npy files. Link
// spotter::workbench.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// How to write bf16, f8_e4m3 and f8_e5m2, for which NumPy has no type.
//   bits     their bits as unsigned integers of the same size: lossless, and as large as the tensor
//   widened  the same numbers as f4, which represents all of them exactly
enum class small_floats : std::uint8_t { bits, widened };

// NumPy's name of an element type.
struct npy_type {
    std::string letters{};    // such as "<f4"; empty without values
    bool is_bits = false;     // a float written as its bits
    bool is_widened = false;  // written as f4
};

// `count` only matters for a text, which is one element of that many bytes (at least one: NumPy has no empty text).
[[nodiscard]] npy_type npy_type_of(dtype type, small_floats how = small_floats::bits, std::uint64_t count = 0);

// The header of a .npy file (version 1.0): magic, and a Python dictionary padded to a multiple of 64 bytes.
[[nodiscard]] std::string npy_header(tensor_ref const& tensor, small_floats how = small_floats::bits);

// A .npy file in two or three parts: header, values, padding. The values are the tensor's own memory if possible. It
// holds a view of the tensor.
class npy_parts {
public:
    npy_parts(tensor_ref const& tensor, small_floats how);
    npy_parts(npy_parts const&) = delete;
    npy_parts& operator=(npy_parts const&) = delete;

    [[nodiscard]] std::span<std::byte const> header() const noexcept;  // its own memory
    // The tensor's memory, if it has the layout of the file.
    [[nodiscard]] std::span<std::byte const> values() const noexcept { return values_; }
    // The size of all parts together.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return header_.size() + values_.size(); }

private:
    static constexpr std::byte zero{};

    std::string header_;
    std::vector<std::byte> wide_{};
    std::span<std::byte const> values_;
};

// The whole file. errc: no_payload, not_contiguous. Shape and order of axes are the recorded ones (numpy.load returns a
// Fortran-order array for a column-major tensor); a text becomes a bytes scalar.
[[nodiscard]] result<std::vector<std::byte>> to_npy(tensor_ref const& tensor, small_floats how = small_floats::bits);

// 64-bit fields (zip64): where a size, an offset or the number of entries requires them, or always.
enum class zip64 : std::uint8_t { where_needed, always };

namespace detail {
class npz_archive;
}

// Call add() for each tensor, then finish(). Only the directory is kept in memory: a tensor's bytes go straight to
// `put`, which returns an error to stop the writing. Sizes are unlimited. Two files with the same content have the same
// bytes (they hold no times). After an error every call returns it.
class npz_writer {
public:
    explicit npz_writer(std::function<error(std::span<std::byte const>)> put, small_floats how = small_floats::bits,
                        zip64 wide = zip64::where_needed);
    npz_writer(npz_writer&& other) noexcept;
    npz_writer& operator=(npz_writer&& other) noexcept;
    ~npz_writer();

    // `name` is the key in numpy.load(file)[name], and must be new; bytes that are not UTF-8 are written as \xff. errc:
    // exists, bad_config (too long), no_payload, not_contiguous, and whatever `put` returns.
    [[nodiscard]] error add(std::string_view name, tensor_ref const& tensor);
    // Writes the directory, without which the file cannot be read. `comment` is the archive's, as `unzip -z` shows it;
    // at most 65535 bytes.
    [[nodiscard]] error finish(std::string_view comment = {});
    [[nodiscard]] std::uint64_t bytes() const noexcept;  // written so far

private:
    std::unique_ptr<detail::npz_archive> its_;
};

}  // namespace spotter::inline SPOTTER_ABI
