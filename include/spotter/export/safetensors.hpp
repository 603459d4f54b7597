// SPDX-License-Identifier: Apache-2.0
// Export (L5): tensors as one .safetensors file: a JSON header, then the values, row-major and little-endian.
#pragma once

#include <spotter/export/row_major.hpp>

#include <map>
#include <set>
#include <string>

namespace spotter::inline SPOTTER_ABI {

// The name of an element type in safetensors; empty where it has none (c128, text).
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

// The header names every tensor before the first value: call add() for each, write text(), then row_major_bytes() of
// each in the same order.
class safetensors_header {
public:
    // errc: exists (names are unique), wrong_type (safetensors has no such element type), no_payload, not_contiguous.
    [[nodiscard]] error add(std::string_view name, tensor_ref const& tensor);
    // Adds an entry of `__metadata__`; an entry with the same key is replaced.
    void note(std::string_view key, std::string_view word);
    // The bytes before the values: the length of the JSON in eight bytes, and the JSON, padded to a multiple of eight.
    [[nodiscard]] std::string text() const;

private:
    std::set<std::string> names_{};
    std::map<std::string, std::string> notes_{};
    std::string entries_{};
    std::uint64_t bytes_ = 0;  // of the values so far
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/safetensors.ipp>
#endif
