// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: reads a tensor from the bytes of a NumPy .npy file, which is untrusted. Executes nothing of it.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/trial/value.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// The header of a .npy file.
struct npy_header_facts {
    tensor_ref like{};        // type, shape and order; no values
    bool big_endian = false;  // the bytes of each number are in reverse order
    std::size_t begin = 0;    // offset of the values
};

namespace detail {

// Parses a Python dictionary of a text, a boolean and a tuple of integers, as NumPy writes it (format.py parses it by
// ast.literal_eval).
class npy_dictionary {
public:
    explicit npy_dictionary(std::string_view words) noexcept : rest_{words} {}

    [[nodiscard]] error read(npy_header_facts& into);

private:
    [[nodiscard]] static error malformed() noexcept;
    void space() noexcept;
    [[nodiscard]] char peek() noexcept;
    [[nodiscard]] bool take(char letter) noexcept;
    [[nodiscard]] bool word(std::string_view which) noexcept;
    [[nodiscard]] bool text(std::string_view& into) noexcept;
    [[nodiscard]] error shape(extents& into, bool& good) noexcept;
    // `good`: it is what NumPy writes, and comes once.
    [[nodiscard]] error entry(std::string_view key, npy_header_facts& into, bool& good);
    [[nodiscard]] error element_type(npy_header_facts& into) const noexcept;
    [[nodiscard]] error unlike_ours(std::string_view letters) const noexcept;

    std::string_view rest_;
    std::string_view type_{};
    bool has_type_ = false, has_order_ = false, has_shape_ = false;
};

// The size of all elements in bytes; false where it exceeds 64 bits.
[[nodiscard]] bool count_bytes(tensor_ref& like, std::uint64_t& bytes) noexcept;

}  // namespace detail

// Versions 1 to 3 of the format. errc: corrupt, wrong_type (objects, records, dates, ...), rank_too_deep,
// unknown_version.
[[nodiscard]] result<npy_header_facts> read_npy_header(std::span<std::byte const> file);

// The tensor in the bytes of a .npy file, copied. errc: those of read_npy_header; corrupt where the file is shorter or
// longer than its header says.
[[nodiscard]] recorded_value read_npy(std::span<std::byte const> file);

}  // namespace spotter::inline SPOTTER_ABI
