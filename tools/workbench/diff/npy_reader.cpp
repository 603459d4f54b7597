// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of npy_reader.hpp.
#include "diff/npy_reader.hpp"

#include "error_of.hpp"
#include "npy_letters.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

error npy_dictionary::read(npy_header_facts& into) {
    if (!take('{')) { return malformed(); }
    while (!take('}')) {
        std::string_view key;
        if (!text(key) || !take(':')) { return malformed(); }
        bool good = false;
        if (error const why = entry(key, into, good)) { return why; }
        if (!good || (!take(',') && peek() != '}')) { return malformed(); }
    }
    space();
    if (!rest_.empty() || !has_type_ || !has_order_ || !has_shape_) { return malformed(); }
    return element_type(into);
}

error npy_dictionary::entry(std::string_view key, npy_header_facts& into, bool& good) {
    if (key == "descr" && !has_type_) {
        if (peek() == '[') { return {errc::wrong_type, "the .npy file holds records and not numbers"}; }
        good = has_type_ = text(type_);
    } else if (key == "fortran_order" && !has_order_) {
        bool const columns = word("True");
        good = has_order_ = columns || word("False");
        into.like.layout = columns ? order::column_major : order::row_major;
    } else if (key == "shape" && !has_shape_) {
        if (error const why = shape(into.like.shape, good)) { return why; }
        has_shape_ = good;
    }
    return {};
}

error npy_dictionary::malformed() noexcept {
    return {errc::corrupt, "the header of the .npy file is not what NumPy writes"};
}

void npy_dictionary::space() noexcept {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) { rest_.remove_prefix(1); }
}

char npy_dictionary::peek() noexcept {
    space();
    return rest_.empty() ? '\0' : rest_[0];
}

bool npy_dictionary::take(char letter) noexcept {
    if (peek() != letter) { return false; }
    rest_.remove_prefix(1);
    return true;
}

bool npy_dictionary::word(std::string_view which) noexcept {
    space();
    if (!rest_.starts_with(which)) { return false; }
    rest_.remove_prefix(which.size());
    return true;
}

bool npy_dictionary::text(std::string_view& into) noexcept {
    char const quote = peek();
    if (quote != '\'' && quote != '"') { return false; }
    std::size_t const end = rest_.find(quote, 1);
    if (end == rest_.npos) { return false; }
    into = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return into.find('\\') == into.npos;
}

error npy_dictionary::shape(extents& into, bool& good) noexcept {
    if (!take('(')) { return {}; }
    while (!take(')')) {
        space();
        std::uint64_t size = 0;
        auto const read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
        if (read.ec != std::errc{}) { return malformed(); }
        rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
        (void)take('L');  // of Python 2
        if (into.rank == max_rank) { return {errc::rank_too_deep, "the .npy file has more than 8 axes"}; }
        into.size[into.rank++] = size;
        if (!take(',') && peek() != ')') { return malformed(); }
    }
    good = true;
    return {};
}

error npy_dictionary::element_type(npy_header_facts& into) const noexcept {
    if (type_.size() < 2) { return malformed(); }
    char const first = type_[0];
    bool const has_order = std::string_view{"<>|="}.find(first) != std::string_view::npos;
    std::string_view const letters = has_order ? type_.substr(1) : type_;
    into.big_endian = first == '>';
    for (npy_letters const& each : npy_types) {
        if (each.letters != letters) { continue; }
        into.like.type = each.type;
        return {};
    }
    if (!letters.starts_with('S') || into.like.shape.rank != 0) { return unlike_ours(letters); }
    std::uint64_t size = 0;
    auto const read = std::from_chars(letters.data() + 1, letters.data() + letters.size(), size);
    if (read.ec != std::errc{} || read.ptr != letters.data() + letters.size()) { return malformed(); }
    into.like.type = dtype::text;
    into.like.shape = extents{size};
    return {};
}

error npy_dictionary::unlike_ours(std::string_view letters) const noexcept {
    error why{errc::wrong_type, "the .npy file holds "};
    if (letters.starts_with('O')) {
        why.what << "Python objects, which only running them could read: save arrays of numbers";
    } else if (letters == "V2" || letters == "V1") {
        why.what << (letters == "V2" ? "two bytes" : "a byte") << " an element of no type ('" << type_.substr(0, 8)
                 << "'), as NumPy writes " << (letters == "V2" ? "bf16" : "f8")
                 << ": save them as float32, or as .safetensors, which has that type";
    } else if (letters.starts_with('U')) {
        why.what << "texts of UTF-32 ('" << type_.substr(0, 20) << "'): save them as bytes ('S'), or save numbers";
    } else if (letters.starts_with('M') || letters.starts_with('m')) {
        why.what << "dates or durations ('" << type_.substr(0, 20) << "'): save them as int64";
    } else {
        why.what << "elements of the type '" << type_.substr(0, 20) << "', which is none of ours: save numbers";
    }
    return why;
}

bool count_bytes(tensor_ref& like, std::uint64_t& bytes) noexcept {
    std::uint64_t count = 1;
    bool none = false;  // with an empty axis the others may have any size
    for (std::uint64_t const size : like.shape.view()) { none = none || size == 0; }
    for (std::uint64_t const size : like.shape.view()) {
        if (none) { count = 0; }
        if (!none && !product_fits(count, size, count)) { return false; }
    }
    like.count = count;
    return refusal_of(like.shape) == refusal::none && product_fits(count, size_of(like.type), bytes);
}

// Reverses the bytes of each number; for complex numbers those of each part.
static void swap_bytes(std::span<std::byte> values, dtype type) noexcept {
    std::size_t const width = is_complex(type) ? size_of(type) / 2 : size_of(type);
    for (std::size_t at = 0; width > 1 && at + width <= values.size(); at += width) {
        std::reverse(values.data() + at, values.data() + at + width);
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

result<npy_header_facts> read_npy_header(std::span<std::byte const> file) {
    auto const* const letters = reinterpret_cast<char const*>(file.data());
    constexpr std::string_view magic{"\x93NUMPY", 6};
    if (file.size() < 10 || std::string_view{letters, 6} != magic) {
        return {errc::corrupt, "this is not a .npy file: it does not begin as one"};
    }
    auto const version = static_cast<unsigned char>(letters[6]);
    if (version < 1 || version > 3) {
        return error_of(errc::unknown_version, "the .npy file is of version ", int{version},
                        ": versions 1 to 3 can be read");
    }
    std::size_t const width = version == 1 ? 2 : 4;
    std::uint32_t length = 0;
    if (file.size() < 8 + width) { return {errc::corrupt, "the .npy file ends in its header"}; }
    std::memcpy(&length, letters + 8, width);
    if (length > file.size() - 8 - width) { return {errc::corrupt, "the .npy file ends in its header"}; }
    npy_header_facts facts;
    facts.begin = 8 + width + length;
    if (error const why = detail::npy_dictionary{{letters + 8 + width, length}}.read(facts)) { return why; }
    return facts;
}

recorded_value read_npy(std::span<std::byte const> file) {
    result<npy_header_facts> facts = read_npy_header(file);
    if (!facts) { return facts.error(); }
    std::uint64_t bytes = 0;
    std::span<std::byte const> const values = file.subspan(facts->begin);
    if (!detail::count_bytes(facts->like, bytes) || bytes != values.size()) {
        error why{errc::corrupt, "the .npy file has "};
        why.what << values.size() << " bytes of values, and its shape needs " << (bytes == 0 ? "others" : "");
        if (bytes != 0) { why.what << bytes; }
        return why;
    }
    std::vector<std::byte> copy(values.begin(), values.end());
    if (facts->big_endian) { detail::swap_bytes(copy, facts->like.type); }
    tensor_ref like = facts->like;
    if (like.type == dtype::text) {  // NumPy pads a text with zeros
        while (!copy.empty() && copy.back() == std::byte{0}) { copy.pop_back(); }
        like.shape = extents{copy.size()};
        like.count = copy.size();
    }
    return {std::move(copy), like};
}

}  // namespace spotter::inline SPOTTER_ABI
