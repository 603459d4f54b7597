// SPDX-License-Identifier: Apache-2.0
// Ext (L6), for xgboost.hpp: the numbers and strings of a JSON document, one after the other, with the way to each. XGBoost tells
// its parameters and its trees in no other form.
#pragma once

#include <spotter/config.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// An object or array that encloses a value: the key the value has in the object, or its number in the array.
struct json_level {
    std::string_view key{};
    std::size_t index = 0;
    bool is_array = false;
};

// A document must outlive its scan. Strings are shown as they are written, escapes and all.
class json_scan {
public:
    explicit json_scan(std::string_view text) noexcept : text_{text} {}

    // Calls `use(levels, text)` for each string, number and literal, in order; false where the document is malformed, or nested deeper than
    // anything that XGBoost writes.
    template <class Use>
    [[nodiscard]] bool each(Use&& use) {
        for (;;) {
            skip_space();
            if (at('{') || at('[')) {
                if (depth_ == levels_.size()) { return false; }
                bool const array = text_[place_++] == '[';
                levels_[depth_++] = {{}, 0, array};
                skip_space();
                if (at(array ? ']' : '}')) {
                    ++place_;
                    --depth_;
                } else if (array || key()) {
                    continue;
                } else {
                    return false;
                }
            } else {
                std::string_view value;
                if (!(at('"') ? string(value) : bare(value))) { return false; }
                use(std::span<json_level const>{levels_.data(), depth_}, value);
            }
            if (!advance()) { return depth_ == 0 && place_ == text_.size(); }
        }
    }

private:
    // Past the end of a value, and of all that ends with it, to the next value; false where there is none.
    [[nodiscard]] bool advance() {
        for (;;) {
            skip_space();
            if (depth_ == 0 || place_ == text_.size()) { return false; }
            json_level& inside = levels_[depth_ - 1];
            char const next = text_[place_];
            if (next == ',') {
                ++place_;
                if (inside.is_array) {
                    ++inside.index;
                    return true;
                }
                return key();
            }
            if (next != (inside.is_array ? ']' : '}')) { return false; }
            ++place_;
            --depth_;
        }
    }
    [[nodiscard]] bool key() {
        skip_space();
        if (!at('"') || !string(levels_[depth_ - 1].key)) { return false; }
        skip_space();
        if (!at(':')) { return false; }
        ++place_;
        return true;
    }
    [[nodiscard]] bool string(std::string_view& into) {
        std::size_t const first = ++place_;
        while (place_ < text_.size() && text_[place_] != '"') { place_ += text_[place_] == '\\' ? 2 : 1; }
        if (place_ >= text_.size()) { return false; }
        into = text_.substr(first, place_++ - first);
        return true;
    }
    [[nodiscard]] bool bare(std::string_view& into) {
        std::size_t const end = text_.find_first_of(",]} \t\r\n", place_);
        into = text_.substr(place_, end == text_.npos ? end : end - place_);
        place_ += into.size();
        return !into.empty();
    }
    [[nodiscard]] bool at(char wanted) const { return place_ < text_.size() && text_[place_] == wanted; }
    void skip_space() {
        while (at(' ') || at('\n') || at('\t') || at('\r')) { ++place_; }
    }

    std::string_view text_;
    std::size_t place_ = 0;
    std::size_t depth_ = 0;
    std::array<json_level, 32> levels_{};
};

// The whole text as a number, whatever the locale; what is too small for a floating-point type is 0. Into a reference, and never
// through a value: -ffast-math promises that those are no NaN.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& into) {
    auto const [end, why] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (text.empty() || end != text.data() + text.size()) { return false; }
    if (why == std::errc::result_out_of_range && text.find_first_of("eE") != text.npos &&
        text[text.find_first_of("eE") + 1] == '-') {
        into = Number{};
        return true;
    }
    return why == std::errc{};
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
