// SPDX-License-Identifier: Apache-2.0
// Workbench, export: the bodies of spotter/workbench/npy.hpp, except archives.
#include "export/npy_refusal.hpp"
#include "npy_letters.hpp"

#include <spotter/core/casts.hpp>
#include <spotter/workbench/npy.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

// The values as in a .npy file, where these are not the tensor's own bytes.
[[nodiscard]] static std::vector<std::byte> npy_widened(tensor_ref const& tensor) {
    std::vector<std::byte> wide(static_cast<std::size_t>(tensor.count) * sizeof(std::uint32_t));
    visit_values(tensor, [&](auto values) {
        if constexpr (requires { float_bits_of(values[0]); }) {
            std::byte* into = wide.data();
            for (auto const& each : values) {
                std::uint32_t const bits = float_bits_of(each);
                std::memcpy(into, &bits, sizeof bits);
                into += sizeof bits;
            }
        }
    });
    return wide;
}

error npy_refusal(tensor_ref const& tensor) noexcept {
    if (tensor.absent()) { return {errc::no_payload, "there are no values to export"}; }
    if (tensor.refused != refusal::none) {
        return {errc::not_contiguous, "only a tensor whose values lie packed in memory can be exported"};
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

npy_type npy_type_of(dtype type, small_floats how, std::uint64_t count) {
    if (type == dtype::none) { return {}; }
    if (type == dtype::text) { return {"|S" + std::to_string(count > 0 ? count : 1)}; }
    bool const is_wide = size_of(type) > 1;  // and has an order of bytes
    for (detail::npy_letters const& each : detail::npy_types) {
        if (each.type == type) { return {(is_wide ? '<' : '|') + std::string{each.letters}}; }
    }
    bool const bits = how == small_floats::bits;
    return {!bits ? "<f4" : is_wide ? "<u2" : "|u1", bits, !bits};
}

std::string npy_header(tensor_ref const& tensor, small_floats how) {
    bool const is_text = tensor.type == dtype::text;
    bool const columns = tensor.layout == order::column_major && tensor.shape.rank > 1;
    std::string words = "{'descr': '" + npy_type_of(tensor.type, how, tensor.count).letters + "', 'fortran_order': ";
    words += columns ? "True" : "False";
    words += ", 'shape': (";
    std::size_t const rank = is_text ? 0 : tensor.shape.view().size();
    for (std::size_t axis = 0; axis < rank; ++axis) {
        words += std::to_string(tensor.shape.size[axis]);
        words += rank == 1 ? "," : axis + 1 < rank ? ", " : "";
    }
    words += "), }";
    constexpr std::size_t before = 10;  // magic, version, and the length of the dictionary
    words.append(63 - (before + words.size()) % 64, ' ');
    words += '\n';
    std::string header{"\x93NUMPY\x01\x00", 8};
    header += static_cast<char>(words.size() & 0xFFU);
    header += static_cast<char>(words.size() >> 8U);
    return header + words;
}

npy_parts::npy_parts(tensor_ref const& tensor, small_floats how)
    : header_{npy_header(tensor, how)},
      values_{static_cast<std::byte const*>(tensor.values.raw), as_size(tensor.bytes())} {
    if (npy_type_of(tensor.type, how).is_widened) {
        wide_ = detail::npy_widened(tensor);
        values_ = wide_;
    }
    if (tensor.type == dtype::text && tensor.count == 0) { values_ = {&zero, 1}; }
}

std::span<std::byte const> npy_parts::header() const noexcept {
    return {reinterpret_cast<std::byte const*>(header_.data()), header_.size()};
}

result<std::vector<std::byte>> to_npy(tensor_ref const& tensor, small_floats how) {
    if (error const why = detail::npy_refusal(tensor)) { return why; }
    npy_parts const parts{tensor, how};
    std::vector<std::byte> file;
    file.reserve(as_size(parts.bytes()));
    file.insert(file.end(), parts.header().begin(), parts.header().end());
    file.insert(file.end(), parts.values().begin(), parts.values().end());
    return file;
}

}  // namespace spotter::inline SPOTTER_ABI
