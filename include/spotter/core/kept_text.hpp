// SPDX-License-Identifier: Apache-2.0
// Core (L0): a text of any length that owns its letters and never throws.
#pragma once

#include <spotter/core/slots.hpp>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Names of tensors are short: up to 24 letters stand in the object itself, so that comparing one costs no further line of memory.
// Copies on request; a copy that there is no memory for is empty. What view() returns is good until the text is changed or moved.
class kept_text {
public:
    kept_text() noexcept = default;
    kept_text(kept_text const& other) noexcept { (void)assign(other); }
    kept_text(kept_text&& other) noexcept;
    kept_text& operator=(kept_text const& other) noexcept;
    kept_text& operator=(kept_text&& other) noexcept;
    ~kept_text() = default;

    // The parts one after the other. False where memory is exhausted; the text is empty then. No part may be of this text.
    [[nodiscard]] bool assign(std::string_view first, std::string_view second = {}, std::string_view third = {}) noexcept;

    [[nodiscard]] std::string_view view() const noexcept { return {letters_, size_}; }  // until it is changed or moved
    operator std::string_view() const noexcept { return view(); }  // the same
    // The same letters: without a call, which takes longer than to compare a name.
    [[nodiscard]] bool is(std::string_view other) const noexcept {
        if (other.size() != size_) { return false; }
        if (size_ < 4) { return same_few(letters_, other.data(), size_); }
        if (size_ < 8) { return same_ends<std::uint32_t>(letters_, other.data(), size_); }
        for (std::size_t i = 8; i + 8 < size_; i += 8) {
            if (!same_word<std::uint64_t>(letters_ + i, other.data() + i)) { return false; }
        }
        return same_ends<std::uint64_t>(letters_, other.data(), size_);
    }

private:
    template <class Word>
    static bool same_word(char const* a, char const* b) noexcept {
        Word words[2];
        std::memcpy(&words[0], a, sizeof(Word)), std::memcpy(&words[1], b, sizeof(Word));
        return words[0] == words[1];
    }
    template <class Word>
    static bool same_ends(char const* a, char const* b, std::size_t count) noexcept {
        std::size_t const last = count - sizeof(Word);
        return same_word<Word>(a, b) && same_word<Word>(a + last, b + last);
    }
    static bool same_few(char const* a, char const* b, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            if (a[i] != b[i]) { return false; }
        }
        return true;
    }
    void take(kept_text& other) noexcept;

    char* letters_ = near_;
    std::size_t size_ = 0;
    char near_[24]{};
    slots<char> far_{};  // the letters of a longer one
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/kept_text.ipp>
#endif
