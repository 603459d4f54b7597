// SPDX-License-Identifier: Apache-2.0
// Core (L0): a short text with a fixed capacity: errors and evidence need no allocation.
#pragma once

#include <spotter/core/bits.hpp>

#include <concepts>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Text beyond the capacity is cut. Trivially copyable.
template <std::size_t Capacity>
class text {
public:
    constexpr text() noexcept = default;
    constexpr text(std::string_view value) noexcept { *this << value; }
    constexpr text(char const* value) noexcept { *this << std::string_view{value}; }

    constexpr text& operator<<(std::string_view value) noexcept {
        for (char letter : value) {
            if (size_ == Capacity) { break; }
            letters_[size_++] = letter;
        }
        return *this;
    }
    constexpr text& operator<<(char const* value) noexcept { return *this << std::string_view{value}; }
    constexpr text& operator<<(char letter) noexcept { return *this << std::string_view{&letter, 1}; }

    template <std::integral Integer>
        requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>)
    constexpr text& operator<<(Integer value) noexcept {
        auto rest = static_cast<std::uint64_t>(value);
        if constexpr (std::is_signed_v<Integer>) {
            if (value < 0) {
                *this << '-';
                rest = ~rest + 1;
            }
        }
        char digits[20]{};
        std::size_t count = 0;
        do {
            digits[count++] = static_cast<char>('0' + rest % 10);
            rest /= 10;
        } while (rest != 0);
        while (count > 0) { *this << digits[--count]; }
        return *this;
    }

    // For people: three significant digits. Whole numbers below a million, which are counts, are written in full. The
    // exact number is in the finding's fields.
    constexpr text& operator<<(double const& value) noexcept {
        switch (classify(value)) {
            case number_class::nan:
                return *this << "nan";
            case number_class::pos_inf:
                return *this << "inf";
            case number_class::neg_inf:
                return *this << "-inf";
            default:
                break;
        }
        if (value < 0) { *this << '-'; }
        double size = magnitude(value);
        if (size < 1e6 && static_cast<double>(static_cast<std::uint32_t>(size)) == size) {
            return *this << static_cast<std::uint32_t>(size);
        }
        int power = 0;
        // In one step: if subnormals are flushed, ten times the smallest ones is still zero.
        if (size < 1e-200) { size *= 1e200, power = -200; }
        while (size >= 999.5) { size /= 10, ++power; }
        while (size < 99.95) { size *= 10, --power; }
        auto const digits = static_cast<std::uint32_t>(size + 0.5);
        power += 2;
        if (power < -4 || power > 5) { return scientific(digits, power); }
        return plain(digits, power);
    }

    // Valid until the text is changed or destroyed.
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {letters_, size_}; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr operator std::string_view() const noexcept { return view(); }  // likewise

private:
    constexpr text& scientific(std::uint32_t digits, int power) noexcept {
        fraction(digits / 100, digits % 100, 2);
        return *this << 'e' << power;
    }
    constexpr text& plain(std::uint32_t digits, int power) noexcept {
        if (power >= 2) {
            *this << digits;
            for (int zero = 2; zero < power; ++zero) { *this << '0'; }
            return *this;
        }
        if (power == 1) { return fraction(digits / 10, digits % 10, 1); }
        if (power == 0) { return fraction(digits / 100, digits % 100, 2); }
        *this << "0.";
        for (int zero = -1; zero > power; --zero) { *this << '0'; }
        while (digits % 10 == 0) { digits /= 10; }
        return *this << digits;
    }
    constexpr text& fraction(std::uint32_t whole, std::uint32_t rest, int places) noexcept {
        *this << whole;
        if (rest == 0) { return *this; }
        *this << '.';
        if (places == 2 && rest < 10) { *this << '0'; }
        if (places == 2 && rest % 10 == 0) { rest /= 10; }
        return *this << rest;
    }

    char letters_[Capacity]{};
    std::size_t size_ = 0;
};

namespace detail {

// Removes spaces at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
    while (text.starts_with(' ')) { text.remove_prefix(1); }
    while (text.ends_with(' ')) { text.remove_suffix(1); }
    return text;
}

// A std::ostream or a similar type, recognised by its members: this header does not include <ostream>.
template <class Stream>
concept stream_of_letters =
    requires { requires std::same_as<typename Stream::char_type, char>; } && requires { typename Stream::traits_type; };

}  // namespace detail

template <detail::stream_of_letters Stream, std::size_t Capacity>
Stream& operator<<(Stream& out, text<Capacity> const& it) {
    out << it.view();
    return out;
}

}  // namespace spotter::inline SPOTTER_ABI
