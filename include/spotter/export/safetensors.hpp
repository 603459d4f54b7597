// SPDX-License-Identifier: Apache-2.0
// Export (L5): tensors as one .safetensors file: a JSON header, then the values, row-major and little-endian.
#pragma once

#include <spotter/export/row_major.hpp>

#include <iterator>
#include <map>
#include <set>
#include <string>

namespace spotter::inline SPOTTER_ABI {

// The name of an element type in safetensors; empty where it has none (c128, text).
[[nodiscard]] constexpr std::string_view safetensors_type_of(dtype type) noexcept {
    constexpr std::string_view names[] = {"",    "BOOL", "I8",   "I16", "I32", "I64", "U8", "U16",     "U32",
                                          "U64", "F16",  "BF16", "F32", "F64", "C64", "",   "F8_E4M3", "F8_E5M2"};
    auto const index = static_cast<std::size_t>(type);
    return index < std::size(names) ? names[index] : std::string_view{};
}
// The names stand in the order of dtype's numbers, which are part of the file format.
static_assert(safetensors_type_of(dtype::u64) == "U64" && safetensors_type_of(dtype::c64) == "C64" &&
              safetensors_type_of(dtype::f8_e5m2) == "F8_E5M2" && safetensors_type_of(dtype::text).empty());

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
