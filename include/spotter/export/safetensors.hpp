// SPDX-License-Identifier: Apache-2.0
// Export (L5): tensors as one .safetensors file: a JSON header, then the values, row-major and little-endian.
#pragma once

#include <spotter/export/row_major.hpp>
#include <spotter/export/text.hpp>

#include <set>
#include <string>

namespace spotter::inline SPOTTER_ABI {

// How safetensors names an element type; empty where it has none (c128, text).
[[nodiscard]] constexpr std::string_view safetensors_type_of(dtype type) noexcept {
    switch (type) {
        case dtype::boolean:
            return "BOOL";
        case dtype::i8:
            return "I8";
        case dtype::i16:
            return "I16";
        case dtype::i32:
            return "I32";
        case dtype::i64:
            return "I64";
        case dtype::u8:
            return "U8";
        case dtype::u16:
            return "U16";
        case dtype::u32:
            return "U32";
        case dtype::u64:
            return "U64";
        case dtype::f16:
            return "F16";
        case dtype::bf16:
            return "BF16";
        case dtype::f32:
            return "F32";
        case dtype::f64:
            return "F64";
        case dtype::c64:
            return "C64";
        case dtype::f8_e4m3:
            return "F8_E4M3";
        case dtype::f8_e5m2:
            return "F8_E5M2";
        case dtype::c128:
        case dtype::text:
        case dtype::none:
            break;
    }
    return {};
}

// The header names every tensor before the first value comes: add() each, write text(), then row_major_bytes() of each in that order.
class safetensors_header {
public:
    // errc: exists (names are unique), wrong_type (safetensors has no such element type), no_payload, not_contiguous.
    [[nodiscard]] error add(std::string_view name, tensor_ref const& tensor) {
        if (tensor.absent()) { return {errc::no_payload, "there are no values to export"}; }
        if (tensor.refused != refusal::none) { return {errc::not_contiguous, "only packed values can be exported"}; }
        if (safetensors_type_of(tensor.type).empty()) {
            error why{errc::wrong_type, "safetensors has no element type "};
            why.what << name_of(tensor.type) << ": export it as .npz";
            return why;
        }
        std::string key = json_text(name);
        if (name == "__metadata__" || !names_.insert(key).second) {
            return {errc::exists,
                    "there is a tensor of that name in the file, or it is __metadata__, which is reserved"};
        }
        entries_ += entries_.empty() ? "" : ",";
        entries_ += key + ":{\"dtype\":\"" + std::string{safetensors_type_of(tensor.type)} + "\",\"shape\":[";
        for (std::size_t axis = 0; axis < tensor.shape.view().size(); ++axis) {
            entries_ += (axis > 0 ? "," : "") + std::to_string(tensor.shape.size[axis]);
        }
        entries_ += "],\"data_offsets\":[" + std::to_string(bytes_) + ',';
        bytes_ += tensor.bytes();
        entries_ += std::to_string(bytes_) + "]}";
        return {};
    }
    // What stands before the values: the length of the JSON in eight bytes, and the JSON, padded to a multiple of eight.
    [[nodiscard]] std::string text() const {
        std::string words = "{" + entries_ + "}";
        words.append((8 - words.size() % 8) % 8, ' ');
        std::string head;
        for (unsigned shift = 0; shift < 64; shift += 8) { head += static_cast<char>(words.size() >> shift & 0xFFU); }
        return head + words;
    }

private:
    std::set<std::string> names_{};
    std::string entries_{};
    std::uint64_t bytes_ = 0;  // of the values so far
};

}  // namespace spotter::inline SPOTTER_ABI
