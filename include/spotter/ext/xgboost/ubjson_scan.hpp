// SPDX-License-Identifier: Apache-2.0
// Ext (L6), for xgboost.hpp: the values of a UBJSON document (ubjson.org, draft 12), one after the other, with the way to each. XGBoost
// writes models in it a good deal faster than as text, and arrays of numbers can be passed over.
#pragma once

#include <spotter/ext/xgboost/json_scan.hpp>

#include <cstdint>
#include <cstring>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A string, a literal, a number, or with `count` an array of numbers of one type. Types are UBJSON's letters, numbers big-endian.
struct ubjson_value {
    char type = 'Z';
    std::uint64_t count = 1;
    std::string_view bytes{};
};

// Bytes of a number; 0: it is none.
[[nodiscard]] constexpr std::size_t ubjson_size(char type) noexcept {
    switch (type) {
        case 'i':
        case 'U':
            return 1;
        case 'I':
            return 2;
        case 'l':
        case 'd':
            return 4;
        case 'L':
        case 'D':
            return 8;
        default:
            return 0;
    }
}
[[nodiscard]] inline std::uint64_t ubjson_bits(char const* bytes, std::size_t size) noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < size; ++i) { bits = bits << 8U | static_cast<unsigned char>(bytes[i]); }
    return bits;
}

class ubjson_scan {
public:
    explicit ubjson_scan(std::string_view document) noexcept : rest_{document} {}

    // Calls `use(levels, value)` for each value that is no object and no array, and for each array of numbers of one type; false where the
    // document is malformed or nested deeper than anything that XGBoost writes.
    template <class Use>
    [[nodiscard]] bool each(Use&& use) {
        for (;;) {
            char type = 0;
            if (!letter(type)) { return false; }
            if (type == '{' || type == '[') {
                level inside{{{}, 0, type == '['}, false, 0};
                ubjson_value block;
                if (!head(inside, block)) { return false; }
                if (block.count == 0 || !block.bytes.empty()) {
                    use(path(), block);
                } else if (depth_ == levels_.size()) {
                    return false;
                } else {
                    levels_[depth_] = inside.of;
                    counts_[depth_++] = inside;
                    if (enter()) { continue; }
                    if (broken_) { return false; }
                }
            } else {
                ubjson_value value{type, 1, {}};
                std::uint64_t size = ubjson_size(type);
                bool const text = type == 'S' || type == 'H';
                if (size == 0 && !text && std::string_view{"TFZC"}.find(type) == std::string_view::npos) {
                    return false;
                }
                if (type == 'C') { size = 1; }
                if ((text && !length(size)) || !take(size, value.bytes)) { return false; }
                use(path(), value);
            }
            if (!advance()) { return !broken_ && depth_ == 0 && rest_.empty(); }
        }
    }

private:
    struct level {
        json_level of;
        bool counted;
        std::uint64_t left;  // values still to come, where they are counted
    };

    // What stands between a bracket and the first value. An array of numbers of one type becomes a block.
    [[nodiscard]] bool head(level& inside, ubjson_value& block) {
        bool const typed = !rest_.empty() && rest_[0] == '$';
        if (typed && (rest_.size() < 3 || rest_[2] != '#')) { return false; }
        if (typed) {
            block.type = rest_[1];
            rest_.remove_prefix(2);
        }
        if (rest_.empty() || rest_[0] != '#') { return true; }
        rest_.remove_prefix(1);
        inside.counted = true;
        if (!length(inside.left)) { return false; }
        if (!typed) { return true; }
        std::size_t const size = ubjson_size(block.type);
        if (size == 0 || !inside.of.is_array || inside.left > rest_.size() / size) { return false; }
        block.count = inside.left;
        return take(block.count * size, block.bytes);
    }
    // To the first value of the innermost level; false where it has none, and is left, or is malformed.
    [[nodiscard]] bool enter() {
        if (ended()) {
            --depth_;
            return false;
        }
        return levels_[depth_ - 1].is_array || key();
    }
    // Past a value, and all that ends with it, to the next one; false where there is none.
    [[nodiscard]] bool advance() {
        while (depth_ > 0) {
            if (counts_[depth_ - 1].counted) { --counts_[depth_ - 1].left; }
            ++levels_[depth_ - 1].index;
            if (!ended()) { return levels_[depth_ - 1].is_array || key(); }
            --depth_;
        }
        return false;
    }
    // Whether the innermost level has no further value; takes the bracket at its end.
    [[nodiscard]] bool ended() {
        level const& inside = counts_[depth_ - 1];
        if (inside.counted) { return inside.left == 0; }
        if (rest_.empty() || rest_[0] != (inside.of.is_array ? ']' : '}')) { return false; }
        rest_.remove_prefix(1);
        return true;
    }
    [[nodiscard]] bool key() {
        std::uint64_t size = 0;
        broken_ = !length(size) || !take(size, levels_[depth_ - 1].key);
        return !broken_;
    }
    [[nodiscard]] bool length(std::uint64_t& into) {
        char type = 0;
        std::string_view bytes;
        if (!letter(type) || type == 'd' || type == 'D') { return false; }
        std::size_t const size = ubjson_size(type);
        if (size == 0 || !take(size, bytes)) { return false; }
        bool const negative = type != 'U' && (static_cast<unsigned char>(bytes[0]) & 0x80U) != 0;
        into = ubjson_bits(bytes.data(), size);
        return !negative;
    }
    [[nodiscard]] bool letter(char& into) {
        if (rest_.empty()) { return false; }
        into = rest_[0];
        rest_.remove_prefix(1);
        return true;
    }
    [[nodiscard]] bool take(std::uint64_t size, std::string_view& into) {
        if (size > rest_.size()) { return false; }
        into = rest_.substr(0, static_cast<std::size_t>(size));
        rest_.remove_prefix(static_cast<std::size_t>(size));
        return true;
    }
    [[nodiscard]] std::span<json_level const> path() const { return {levels_.data(), depth_}; }

    std::string_view rest_;
    std::size_t depth_ = 0;
    bool broken_ = false;
    std::array<json_level, 32> levels_{};
    std::array<level, 32> counts_{};
};

// An element of an array of numbers. Written by its bits: -ffast-math promises that a float in a register is no NaN.
inline void ubjson_number(ubjson_value const& from, std::uint64_t i, float& into) noexcept {
    std::size_t const size = ubjson_size(from.type);
    std::uint64_t const bits = ubjson_bits(from.bytes.data() + i * size, size);
    if (from.type == 'd') {
        auto const half = static_cast<std::uint32_t>(bits);
        std::memcpy(&into, &half, sizeof into);
    } else if (from.type == 'D') {
        double wide = 0;
        std::memcpy(&wide, &bits, sizeof wide);
        into = static_cast<float>(wide);
    } else {
        into = 0;
    }
}
inline void ubjson_number(ubjson_value const& from, std::uint64_t i, std::int32_t& into) noexcept {
    std::size_t const size = ubjson_size(from.type);
    if (from.type == 'd' || from.type == 'D' || size == 0) {
        into = 0;
        return;
    }
    std::uint64_t const bits = ubjson_bits(from.bytes.data() + i * size, size);
    auto const unused = static_cast<unsigned>(64 - 8 * size);
    auto const wide = static_cast<std::int64_t>(bits << unused) >> unused;
    into = static_cast<std::int32_t>(from.type == 'U' ? static_cast<std::int64_t>(bits) : wide);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
