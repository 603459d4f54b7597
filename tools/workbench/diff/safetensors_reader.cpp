// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of safetensors_reader.hpp.
#include "diff/safetensors_reader.hpp"

#include "error_of.hpp"

#include <spotter/export/safetensors.hpp>

#include <algorithm>
#include <tuple>

namespace spotter::inline SPOTTER_ABI::detail {

// dtype::none for unsupported types.
[[nodiscard]] static dtype safetensors_type(std::string_view name) noexcept {
    for (int i = 1; i <= static_cast<int>(dtype::text); ++i) {
        auto const type = static_cast<dtype>(i);
        if (!name.empty() && safetensors_type_of(type) == name) { return type; }
    }
    return dtype::none;
}

bool safetensors_header_parser::number_unsigned(number_unsigned_t value) {
    if (where_ != place::list) { return refuse("a number where none belongs"); }
    if (field_ == "data_offsets") {
        if (offsets_ == 2) { return refuse("more than two data_offsets"); }
        (offsets_++ == 0 ? now().begin : now().bytes) = value;
        return true;
    }
    extents& shape = now().like.shape;
    if (shape.rank == max_rank) { return refuse("more than 8 axes"); }
    shape.size[shape.rank++] = value;
    return true;
}

bool safetensors_header_parser::string(string_t& text) {
    if (where_ == place::metadata) { return true; }
    if (where_ != place::tensor || field_ != "dtype") { return refuse("a text where none belongs"); }
    now().type = text;
    now().like.type = safetensors_type(text);
    return true;
}

bool safetensors_header_parser::start_object(std::size_t) {
    if (where_ == place::outside) {
        where_ = place::names;
    } else if (where_ == place::names && is_metadata_) {
        where_ = place::metadata;
    } else if (where_ == place::names) {
        where_ = place::tensor;
        fields_.clear();
        offsets_ = 0;
    } else {
        return refuse("an object where none belongs");
    }
    return true;
}

bool safetensors_header_parser::key(string_t& text) {
    if (where_ == place::names) {
        is_metadata_ = text == "__metadata__";
        if (!names_.insert(text).second) { return refuse("a name twice"); }
        if (!is_metadata_) { entries_.emplace_back().name = text; }
    } else if (where_ == place::tensor) {
        field_ = text;
        bool const known = text == "dtype" || text == "shape" || text == "data_offsets";
        if (!known || !fields_.insert(text).second) { return refuse("a field that is unknown, or there twice"); }
    }
    return true;
}

bool safetensors_header_parser::end_object() {
    if (where_ == place::tensor && (fields_.size() != 3 || offsets_ != 2)) { return refuse("a field is missing"); }
    where_ = where_ == place::names ? place::outside : place::names;
    return true;
}

bool safetensors_header_parser::start_array(std::size_t) {
    if (where_ != place::tensor || field_ == "dtype") { return refuse("a list where none belongs"); }
    where_ = place::list;
    return true;
}

bool safetensors_header_parser::end_array() {
    where_ = place::tensor;
    return true;
}

bool safetensors_header_parser::refuse(char const* what) {
    if (problem_.empty()) { problem_ = what; }
    return false;
}

[[nodiscard]] static error damaged_safetensors(std::string_view what) noexcept {
    return error_of(errc::corrupt, "the .safetensors file is damaged: ", what.substr(0, 120));
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

result<std::vector<safetensors_entry>> read_safetensors(std::span<std::byte const> file) {
    constexpr std::uint64_t longest_header = 100'000'000;  // the limit in every reader of the format
    std::uint64_t length = 0;
    if (file.size() < sizeof length) { return detail::damaged_safetensors("it ends in the length of its header"); }
    std::memcpy(&length, file.data(), sizeof length);
    if (length > longest_header || length > file.size() - sizeof length) {
        return detail::damaged_safetensors("its header is longer than it can be");
    }
    auto const* const letters = reinterpret_cast<char const*>(file.data()) + sizeof length;
    std::vector<safetensors_entry> entries;
    detail::safetensors_header_parser header{entries};
    if (!nlohmann::json::sax_parse(letters, letters + length, &header)) {
        return detail::damaged_safetensors("its header holds " + header.problem());
    }
    std::sort(entries.begin(), entries.end(), [](auto const& a, auto const& b) {
        return std::tie(a.begin, a.bytes, a.name) <
               std::tie(b.begin, b.bytes, b.name);  // `bytes` temporarily holds the end
    });
    std::uint64_t const first = sizeof length + length, room = file.size() - first;
    std::uint64_t end = 0;
    for (safetensors_entry& each : entries) {
        if (each.begin != end || each.bytes < end || each.bytes > room) {
            return detail::damaged_safetensors("the values of " + each.name + " are not where they belong");
        }
        end = each.bytes;
        each.bytes -= each.begin;
        each.begin += first;
        std::uint64_t needed = 0;
        bool const possible = detail::count_bytes(each.like, needed);
        if (each.like.type != dtype::none && (!possible || needed != each.bytes)) {
            return detail::damaged_safetensors("the shape of " + each.name + " does not fit its values");
        }
    }
    if (end != room) { return detail::damaged_safetensors("bytes behind the last tensor, or a truncated copy"); }
    return entries;
}

recorded_value read_values(std::span<std::byte const> file, safetensors_entry const& it) {
    if (it.like.type == dtype::none) {
        return error_of(errc::wrong_type, "the .safetensors file holds elements of the type ",
                        std::string_view{it.type}.substr(0, 20), ", which is none of ours");
    }
    auto const values = file.subspan(static_cast<std::size_t>(it.begin), static_cast<std::size_t>(it.bytes));
    return {std::vector<std::byte>(values.begin(), values.end()), it.like};
}

}  // namespace spotter::inline SPOTTER_ABI
