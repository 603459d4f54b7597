// SPDX-License-Identifier: Apache-2.0
// Core (L0): a text of any length that owns its characters and never throws.
#pragma once

#include <spotter/core/slots.hpp>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Word>
[[nodiscard]] Word word_at(char const* letters) noexcept {
    Word word;
    std::memcpy(&word, letters, sizeof word);
    return word;
}
// Compares between one and two words.
template <class Word>
[[nodiscard]] bool same_ends(char const* a, char const* b, std::size_t count) noexcept {
    std::size_t const last = count - sizeof(Word);
    return ((word_at<Word>(a) ^ word_at<Word>(b)) | (word_at<Word>(a + last) ^ word_at<Word>(b + last))) == 0;
}
// Compares `count` characters, inline: for a short name a call would take longer than the comparison.
[[nodiscard]] SPOTTER_NOINLINE inline bool same_letters(char const* a, char const* b, std::size_t count) noexcept {
    if (count >= 8) {
        for (std::size_t i = 8; i + 8 < count; i += 8) {
            if (word_at<std::uint64_t>(a + i) != word_at<std::uint64_t>(b + i)) { return false; }
        }
        return same_ends<std::uint64_t>(a, b, count);
    }
    if (count >= 4) { return same_ends<std::uint32_t>(a, b, count); }
    for (std::size_t i = 0; i < count; ++i) {
        if (a[i] != b[i]) { return false; }
    }
    return true;
}

}  // namespace detail

// Tensor names are short: up to 24 characters are stored in the object. Copies are explicit; if memory is exhausted a
// copy is empty. view() is valid until the text is changed or moved.
class kept_text {
public:
    kept_text() noexcept = default;
    kept_text(kept_text const& other) noexcept { (void)assign(other); }
    kept_text(kept_text&& other) noexcept;
    kept_text& operator=(kept_text const& other) noexcept;
    kept_text& operator=(kept_text&& other) noexcept;
    ~kept_text() = default;

    // Assigns the concatenated parts. False where memory is exhausted; the text is then empty. No part may be a view of
    // this text.
    [[nodiscard]] bool assign(std::string_view first, std::string_view second = {},
                              std::string_view third = {}) noexcept;

    [[nodiscard]] std::string_view view() const noexcept { return {letters_, size_}; }  // valid until changed or moved
    operator std::string_view() const noexcept { return view(); }                       // likewise

private:
    void take(kept_text& other) noexcept;

    char* letters_ = near_;
    std::size_t size_ = 0;
    char near_[24]{};
    slot_array<char> far_{};  // the characters of a longer text
};

#if SPOTTER_BODIES

SPOTTER_BODY bool kept_text::assign(std::string_view first, std::string_view second, std::string_view third) noexcept {
    std::size_t const size = first.size() + second.size() + third.size();
    bool const fits = size <= sizeof near_;
    letters_ = near_;
    size_ = 0;
    far_ = {};
    if (!fits && !far_.grow(size)) { return false; }
    letters_ = fits ? near_ : far_.data();
    for (std::string_view const part : {first, second, third}) {
        if (!part.empty()) { std::memcpy(letters_ + size_, part.data(), part.size()); }
        size_ += part.size();
    }
    return true;
}

SPOTTER_BODY void kept_text::take(kept_text& other) noexcept {
    bool const in_place = other.letters_ == other.near_;
    if (in_place) { std::memcpy(near_, other.near_, sizeof near_); }
    far_ = std::move(other.far_);
    letters_ = in_place ? near_ : far_.data();
    size_ = std::exchange(other.size_, 0);
    other.letters_ = other.near_;
}

SPOTTER_BODY kept_text::kept_text(kept_text&& other) noexcept { take(other); }

SPOTTER_BODY kept_text& kept_text::operator=(kept_text&& other) noexcept {
    if (this != &other) { take(other); }
    return *this;
}

SPOTTER_BODY kept_text& kept_text::operator=(kept_text const& other) noexcept {
    if (this != &other) { (void)assign(other); }
    return *this;
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
