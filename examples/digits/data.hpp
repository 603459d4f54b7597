// SPDX-License-Identifier: Apache-2.0
// Handwritten digits from a comma-separated file: 64 pixels from 0 to 16, then the digit, one picture a line.
#pragma once

#include "../common/matrix.hpp"
#include "../common/prng.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace digits {

using example::matrix;

inline constexpr std::size_t pixel_count = 64;  // 8 x 8
inline constexpr std::size_t class_count = 10;
inline constexpr int darkest = 16;

// Pictures with labels.
struct dataset {
    matrix pixels;  // pictures x 64, from 0 to 1
    std::vector<std::int32_t> labels;

    [[nodiscard]] std::size_t size() const noexcept { return labels.size(); }
};

// A dataset, or the error.
struct load_result {
    dataset data{};
    std::string problem{};
};

// The numbers of one line; nothing unless they are exactly 64 pixels and a digit.
[[nodiscard]] inline std::optional<std::array<int, pixel_count + 1>> parse_line(std::string_view line) {
    std::array<int, pixel_count + 1> numbers{};
    char const* next = line.data();
    char const* const end = next + line.size();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        auto const [stop, error] = std::from_chars(next, end, numbers[i]);
        int const largest = i < pixel_count ? darkest : static_cast<int>(class_count) - 1;
        bool const last = i + 1 == numbers.size();
        bool const separated = last ? stop == end : stop != end && *stop == ',';
        if (error != std::errc{} || numbers[i] < 0 || numbers[i] > largest || !separated) { return std::nullopt; }
        next = last ? stop : stop + 1;
    }
    return numbers;
}

// Reads the whole file; on failure returns what is wrong with it and what to do.
[[nodiscard]] inline load_result load(std::string const& path) {
    std::ifstream file{path};
    if (!file) {
        return {.problem = "cannot open " + path + "; unpack the data first: gzip -dc digits.csv.gz > digits.csv"};
    }
    load_result result;
    std::size_t line_number = 0;
    for (std::string line; std::getline(file, line);) {
        ++line_number;
        if (!line.empty() && line.back() == '\r') { line.pop_back(); }
        auto const numbers = parse_line(line);
        if (!numbers) {
            return {.problem = path + ":" + std::to_string(line_number) +
                               ": expected 64 pixels from 0 to 16 and a digit, separated by commas; a packed file is "
                               "unpacked first: gzip -dc digits.csv.gz > digits.csv"};
        }
        std::transform(numbers->begin(), numbers->end() - 1, std::back_inserter(result.data.pixels.values),
                       [](int pixel) { return static_cast<float>(pixel) / static_cast<float>(darkest); });
        result.data.labels.push_back(numbers->back());
    }
    if (result.data.size() < 100) {
        return {.problem = path + ": " + std::to_string(result.data.size()) + " pictures, too few to learn from"};
    }
    result.data.pixels.rows = result.data.size();
    result.data.pixels.cols = pixel_count;
    return result;
}

// A copy of the chosen pictures.
[[nodiscard]] inline dataset gather(dataset const& from, std::span<std::size_t const> chosen) {
    dataset result{{chosen.size(), pixel_count}, {}};
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        std::copy_n(from.pixels.row(chosen[i]), pixel_count, result.pixels.row(i));
        result.labels.push_back(from.labels[chosen[i]]);
    }
    return result;
}

// Four fifths for training, one fifth for testing.
struct split {
    dataset train;
    dataset test;
};

// The same split for every seed of the training, so that results can be compared.
[[nodiscard]] inline split split_dataset(dataset const& all) {
    example::prng random{1797};
    std::vector<std::size_t> const order = example::shuffled_indices(all.size(), random);
    std::span<std::size_t const> const chosen{order};
    std::size_t const train_count = all.size() * 4 / 5;
    return {gather(all, chosen.first(train_count)), gather(all, chosen.subspan(train_count))};
}

}  // namespace digits
