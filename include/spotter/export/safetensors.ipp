// SPDX-License-Identifier: Apache-2.0
// The bodies of safetensors.hpp.
#pragma once

#include <spotter/export/safetensors.hpp>
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
