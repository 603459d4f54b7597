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
#include <spotter/export/text.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY error safetensors_header::add(std::string_view name, tensor_ref const& tensor) {
    if (tensor.absent()) { return {errc::no_payload, "there are no values to export"}; }
    if (tensor.refused != refusal::none) { return {errc::not_contiguous, "only packed values can be exported"}; }
    if (safetensors_type_of(tensor.type).empty()) {
        error why{errc::wrong_type, "safetensors has no element type "};
        why.what << name_of(tensor.type) << ": export it as .npz";
        return why;
    }
    std::string key = json_text(name);
    if (name == "__metadata__" || !names_.insert(key).second) {
        return {errc::exists, "there is a tensor of that name in the file, or it is __metadata__, which is reserved"};
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

SPOTTER_BODY void safetensors_header::note(std::string_view key, std::string_view word) {
    notes_.insert_or_assign(json_text(key), json_text(word));
}

SPOTTER_BODY std::string safetensors_header::text() const {
    std::string words = "{";
    for (auto const& [key, word] : notes_) {
        words += (words.size() > 1 ? "," : "\"__metadata__\":{") + key + ':' + word;
    }
    if (!notes_.empty()) { words += entries_.empty() ? "}" : "},"; }
    words += entries_ + "}";
    words.append((8 - words.size() % 8) % 8, ' ');
    std::string head;
    for (unsigned shift = 0; shift < 64; shift += 8) { head += static_cast<char>(words.size() >> shift & 0xFFU); }
    return head + words;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
