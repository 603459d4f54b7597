// SPDX-License-Identifier: Apache-2.0
// Export (L5): tensors as one .safetensors file: a JSON header, then the values, row-major and little-endian.
#pragma once

#include <spotter/export/row_major.hpp>

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

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

namespace detail {

// Where a file has a tensor's values.
struct stored_tensor {
    std::string type{};  // as safetensors calls it
    std::vector<std::uint64_t> shape{};
    std::uint64_t begin = 0, end = 0;  // behind the header
};
using stored_tensors = std::map<std::string, stored_tensor, std::less<>>;  // by name, with its JSON escapes

// Reads the JSON before the values. False if it is no header. Throws where memory is exhausted.
[[nodiscard]] bool read_safetensors_header(std::string_view json, stored_tensors& into);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/text.hpp>

#include <charconv>

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

namespace detail {

// The JSON of a safetensors header, which has objects, texts and unsigned numbers. Texts keep their escapes.
class safetensors_scanner {
public:
    explicit safetensors_scanner(std::string_view text) noexcept : rest_{text} {}

    // False if it is no such header.
    [[nodiscard]] bool read(stored_tensors& into) {
        return object([&](std::string_view key) {
                   if (key == "__metadata__") {
                       return object([&](std::string_view) { return string().data() != nullptr; });
                   }
                   auto const [place, is_new] = into.try_emplace(std::string{key});
                   return is_new && tensor(place->second);
               }) &&
               (blanks(), rest_.empty());
    }

private:
    void blanks() noexcept {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r')) {
            rest_.remove_prefix(1);
        }
    }
    [[nodiscard]] bool sign(char it) noexcept {
        blanks();
        bool const found = rest_.starts_with(it);
        if (found) { rest_.remove_prefix(1); }
        return found;
    }
    // Null if there is none.
    [[nodiscard]] std::string_view string() noexcept {
        if (!sign('"')) { return {}; }
        std::size_t end = 0;
        while (end < rest_.size() && rest_[end] != '"') { end += rest_[end] == '\\' ? 2 : 1; }
        if (end >= rest_.size()) { return {}; }
        std::string_view const found = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return found;
    }
    [[nodiscard]] bool number(std::uint64_t& value) noexcept {
        blanks();
        auto const [end, fault] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return fault == std::errc{};
    }
    // Calls use(key) at each value.
    template <class Use>
    [[nodiscard]] bool object(Use&& use) {
        if (!sign('{')) { return false; }
        if (sign('}')) { return true; }
        do {
            std::string_view const key = string();
            if (key.data() == nullptr || !sign(':') || !use(key)) { return false; }
        } while (sign(','));
        return sign('}');
    }
    [[nodiscard]] bool numbers(std::vector<std::uint64_t>& into) {
        if (!sign('[')) { return false; }
        if (sign(']')) { return true; }
        do {
            if (!number(into.emplace_back())) { return false; }
        } while (sign(','));
        return sign(']');
    }
    [[nodiscard]] bool tensor(stored_tensor& into) {
        std::vector<std::uint64_t> ends;
        bool const good = object([&](std::string_view key) {
            if (key == "dtype") {
                into.type = string();
                return !into.type.empty();
            }
            return key == "shape" ? numbers(into.shape) : key == "data_offsets" && numbers(ends);
        });
        if (!good || ends.size() != 2 || ends[0] > ends[1]) { return false; }
        into.begin = ends[0], into.end = ends[1];
        return true;
    }

    std::string_view rest_;
};

SPOTTER_BODY bool read_safetensors_header(std::string_view json, stored_tensors& into) {
    return safetensors_scanner{json}.read(into);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#endif
