// SPDX-License-Identifier: Apache-2.0
// Core (L0): a text of any length, into which an expression is written as a sentence; usable in a static_assert.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/core/text.hpp>

#include <concepts>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// "1 step", "2 steps": of a word that ends in s where it is more than one.
[[nodiscard]] constexpr text<60> plural(std::uint64_t count, std::string_view what) noexcept {
    text<60> line;
    line << count << ' ' << what;
    return count == 1 ? line : line << 's';
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

// Never cut: readers of a record parse the sentence of a collection again, and a part of it may mean something else. If
// memory is exhausted the text becomes empty, and stays empty. view() is valid until the text is changed.
class sentence {
public:
    constexpr sentence() noexcept = default;
    constexpr sentence(std::string_view whole) noexcept { put(whole); }
    constexpr sentence(char const* whole) noexcept { put(whole); }

    template <class Value>
    constexpr sentence& operator<<(Value const& value) noexcept {
        if constexpr (std::convertible_to<Value const&, std::string_view>) {
            put(value);
        } else {
            text<32> piece;  // a letter or a number
            piece << value;
            put(piece);
        }
        return *this;
    }

    [[nodiscard]] constexpr std::string_view view() const noexcept {
        return {letters_.data(), letters_.size() < size_ ? 0 : size_};  // a copy there was no memory for is empty
    }
    constexpr operator std::string_view() const noexcept { return view(); }  // the same

private:
    constexpr void put(std::string_view more) noexcept {
        if (lost_ || !letters_.grow(size_ + more.size())) {
            lost_ = true;
            size_ = 0;
            return;
        }
        for (char const letter : more) { letters_[size_++] = letter; }
    }

    slot_array<char> letters_{};
    std::size_t size_ = 0;
    bool lost_ = false;  // for want of memory
};

namespace detail {

// Where a text may be cut at or before `at`: between letters of UTF-8.
[[nodiscard]] constexpr std::size_t cut_before(std::string_view whole, std::size_t at) noexcept {
    while (at > 0 && (static_cast<unsigned char>(whole[at]) & 0xC0U) == 0x80U) { --at; }
    return at;
}
// At most 200 bytes of a text, for display: the beginning, "..." and the end, which says what follows a long list.
[[nodiscard]] constexpr text<203> shortened(std::string_view whole) noexcept {
    constexpr std::size_t most = 200, front = 140;
    if (whole.size() <= most) { return whole; }
    std::size_t back = whole.size() - (most - front);
    while (back < whole.size() && cut_before(whole, back) != back) { ++back; }
    return text<203>{whole.substr(0, cut_before(whole, front))} << "..." << whole.substr(back);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
