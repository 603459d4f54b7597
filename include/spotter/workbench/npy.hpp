// SPDX-License-Identifier: Apache-2.0
// Workbench: tensors as the files of NumPy: .npy, and .npz, a zip archive of these, stored and not compressed. Link
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

// What becomes of bf16, f8_e4m3 and f8_e5m2, for which NumPy has no type.
//   bits     their bits as unsigned integers of the same size: nothing is lost, and a file is as large as the tensor
//   widened  the same numbers as f4, which holds them all exactly
enum class small_floats : std::uint8_t { bits, widened };

// How NumPy names an element type.
struct npy_type {
    std::string letters{};    // such as "<f4"; empty where there are no values
    bool is_bits = false;     // a float that only goes by its bits
    bool is_widened = false;  // written as f4
};

// `count` is used of a text only, which is one element of that many bytes (at least one: NumPy has no empty text).
[[nodiscard]] npy_type npy_type_of(dtype type, small_floats how = small_floats::bits, std::uint64_t count = 0);

// What stands before the values in a .npy file (version 1.0): magic, and a Python dictionary padded to a multiple of 64
// bytes.
[[nodiscard]] std::string npy_header(tensor_ref const& tensor, small_floats how = small_floats::bits);

// A .npy file in two or three parts, which are the tensor's own memory where that is possible: header, values, padding.
// Holds a view of the tensor.
class npy_parts {
public:
    npy_parts(tensor_ref const& tensor, small_floats how);
    npy_parts(npy_parts const&) = delete;
    npy_parts& operator=(npy_parts const&) = delete;

    [[nodiscard]] std::span<std::byte const> header() const noexcept;  // own memory
    // The tensor's memory where it is as the file wants it.
    [[nodiscard]] std::span<std::byte const> values() const noexcept { return values_; }
    // Of the parts together.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return header_.size() + values_.size(); }

private:
    static constexpr std::byte zero{};

    std::string header_;
    std::vector<std::byte> wide_{};
    std::span<std::byte const> values_;
};

// The whole file. errc: no_payload, not_contiguous. Shape and order of axes are the recorded ones (numpy.load gives a
// Fortran array for a column-major tensor); a text becomes a bytes scalar.
[[nodiscard]] result<std::vector<std::byte>> to_npy(tensor_ref const& tensor, small_floats how = small_floats::bits);

// Fields of 64 bits (zip64): where a size, an offset or the number of entries needs them, or everywhere.
enum class zip64 : std::uint8_t { where_needed, always };

namespace detail {
class npz_archive;
}

// add() each tensor, then finish(). Nothing is kept but the directory: a tensor's bytes go straight to `put`, which
// returns an error to end the writing. Sizes are limited by nothing, and two files with the same content have the same
// bytes (no times in them). After an error every call returns it.
class npz_writer {
public:
    explicit npz_writer(std::function<error(std::span<std::byte const>)> put, small_floats how = small_floats::bits,
                        zip64 wide = zip64::where_needed);
    npz_writer(npz_writer&& other) noexcept;
    npz_writer& operator=(npz_writer&& other) noexcept;
    ~npz_writer();

    // `name` is the key in numpy.load(file)[name], and must be a new one; what is no UTF-8 in it stands as \xff. errc:
    // exists, bad_config (too long), no_payload, not_contiguous, and whatever `put` returns.
    [[nodiscard]] error add(std::string_view name, tensor_ref const& tensor);
    // The directory, without which nobody can read the file. `comment` is the archive's, for who asks for it (`unzip
    // -z`); 65535 bytes of it at most.
    [[nodiscard]] error finish(std::string_view comment = {});
    [[nodiscard]] std::uint64_t bytes() const noexcept;  // sent so far

private:
    std::unique_ptr<detail::npz_archive> its_;
};

}  // namespace spotter::inline SPOTTER_ABI
