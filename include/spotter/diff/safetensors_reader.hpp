// SPDX-License-Identifier: Apache-2.0
// Diff (L6): the tensors of a .safetensors file. Nothing in it is trusted.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/diff/npy_reader.hpp>
#include <spotter/export/safetensors.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

struct safetensors_entry {
    std::string name{};
    tensor_ref like{};        // no values; no type where it is none of ours
    std::string type{};       // as the file calls it
    std::uint64_t begin = 0;  // of its values in the file
    std::uint64_t bytes = 0;
};

namespace detail {

// None of ours: dtype::none.
[[nodiscard]] inline dtype safetensors_type(std::string_view name) noexcept {
    for (int i = 1; i <= static_cast<int>(dtype::text); ++i) {
        auto const type = static_cast<dtype>(i);
        if (!name.empty() && safetensors_type_of(type) == name) { return type; }
    }
    return dtype::none;
}

// Takes the header as it is parsed, so that one which nests deeply or is no header costs no memory:
// {"__metadata__": {text: text}, name: {"dtype": text, "shape": [...], "data_offsets": [begin, end]}, ...}.
class safetensors_header_parser {
public:
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;

    explicit safetensors_header_parser(std::vector<safetensors_entry>& into) noexcept : entries_{into} {}

    [[nodiscard]] std::string const& problem() const noexcept { return problem_; }

    bool null() { return refuse("null"); }
    bool boolean(bool) { return refuse("true or false"); }
    bool number_integer(number_integer_t) { return refuse("a negative number"); }
    bool number_float(number_float_t, string_t const&) { return refuse("a fraction"); }
    bool binary(binary_t&) { return refuse("binary"); }

    bool number_unsigned(number_unsigned_t value) {
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
    bool string(string_t& text) {
        if (where_ == place::metadata) { return true; }
        if (where_ != place::tensor || field_ != "dtype") { return refuse("a text where none belongs"); }
        now().type = text;
        now().like.type = safetensors_type(text);
        return true;
    }
    bool start_object(std::size_t) {
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
    bool key(string_t& text) {
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
    bool end_object() {
        if (where_ == place::tensor && (fields_.size() != 3 || offsets_ != 2)) { return refuse("a field is missing"); }
        where_ = where_ == place::names ? place::outside : place::names;
        return true;
    }
    bool start_array(std::size_t) {
        if (where_ != place::tensor || field_ == "dtype") { return refuse("a list where none belongs"); }
        where_ = place::list;
        return true;
    }
    bool end_array() {
        where_ = place::tensor;
        return true;
    }
    template <class Exception>
    bool parse_error(std::size_t at, std::string const&, Exception const&) {
        return refuse(("no JSON at byte " + std::to_string(at)).c_str());
    }

private:
    enum class place : std::uint8_t { outside, names, metadata, tensor, list };

    [[nodiscard]] safetensors_entry& now() noexcept { return entries_.back(); }
    bool refuse(char const* what) {
        if (problem_.empty()) { problem_ = what; }
        return false;
    }

    std::vector<safetensors_entry>& entries_;
    place where_ = place::outside;
    bool is_metadata_ = false;
    std::string field_{};
    std::set<std::string, std::less<>> names_{}, fields_{};
    std::size_t offsets_ = 0;
    std::string problem_{};
};

[[nodiscard]] inline error damaged_safetensors(std::string_view what) noexcept {
    error why{errc::corrupt, "the .safetensors file is damaged: "};
    why.what << what.substr(0, 120);
    return why;
}

}  // namespace detail

// The tensors of a file, in the order of their values, which must fill it without a gap. errc: corrupt.
[[nodiscard]] inline result<std::vector<safetensors_entry>> read_safetensors(std::span<std::byte const> file) {
    constexpr std::uint64_t longest_header = 100'000'000;  // as every reader of the format has it
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
               std::tie(b.begin, b.bytes, b.name);  // `bytes` says where they end, until below
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

// One of them, copied. errc: wrong_type where the format has a type that is none of ours.
[[nodiscard]] inline recorded_value read_values(std::span<std::byte const> file, safetensors_entry const& it) {
    if (it.like.type == dtype::none) {
        error why{errc::wrong_type, "the .safetensors file holds elements of the type "};
        why.what << std::string_view{it.type}.substr(0, 20) << ", which is none of ours";
        return why;
    }
    auto const values = file.subspan(static_cast<std::size_t>(it.begin), static_cast<std::size_t>(it.bytes));
    return {std::vector<std::byte>(values.begin(), values.end()), it.like};
}

}  // namespace spotter::inline SPOTTER_ABI
