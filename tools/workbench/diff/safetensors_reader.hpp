// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: reads the tensors of a .safetensors file, which is untrusted.
#pragma once

#include "diff/npy_reader.hpp"

#include <spotter/core/result.hpp>

#include <nlohmann/json.hpp>

#include <set>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

struct safetensors_entry {  // one tensor of a file
    std::string name{};
    tensor_ref like{};        // no values; no type where it is unsupported
    std::string type{};       // the name in the file
    std::uint64_t begin = 0;  // offset of its values in the file
    std::uint64_t bytes = 0;  // size of its values
};

namespace detail {

// Handles the header while it is parsed, so that deep nesting or an invalid header needs no memory: {"__metadata__":
// {text: text}, name: {"dtype": text, "shape": [...], "data_offsets": [begin, end]}, ...}.
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

    bool number_unsigned(number_unsigned_t value);
    bool string(string_t& text);
    bool start_object(std::size_t);
    bool key(string_t& text);
    bool end_object();
    bool start_array(std::size_t);
    bool end_array();
    template <class Exception>
    bool parse_error(std::size_t at, std::string const&, Exception const&) {
        return refuse(("no JSON at byte " + std::to_string(at)).c_str());
    }

private:
    enum class place : std::uint8_t { outside, names, metadata, tensor, list };

    [[nodiscard]] safetensors_entry& now() noexcept { return entries_.back(); }
    bool refuse(char const* what);

    std::vector<safetensors_entry>& entries_;
    place where_ = place::outside;
    bool is_metadata_ = false;
    std::string field_{};
    std::set<std::string, std::less<>> names_{}, fields_{};
    std::size_t offsets_ = 0;
    std::string problem_{};
};

}  // namespace detail

// The tensors of a file, in the order of their values, which must fill it without a gap. errc: corrupt.
[[nodiscard]] result<std::vector<safetensors_entry>> read_safetensors(std::span<std::byte const> file);

// One of them, copied. errc: wrong_type where its type is unsupported.
[[nodiscard]] recorded_value read_values(std::span<std::byte const> file, safetensors_entry const& it);

}  // namespace spotter::inline SPOTTER_ABI
