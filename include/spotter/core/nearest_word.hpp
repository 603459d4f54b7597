// SPDX-License-Identifier: Apache-2.0
// Core (L0): the word that was probably meant, of those that there are.
#pragma once

#include <spotter/core/text.hpp>

#include <initializer_list>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// How many letters are wrong, missing, too many or swapped with the next one; words of more than 255 letters are far
// from any other.
[[nodiscard]] std::size_t misspelling(std::string_view a, std::string_view b) noexcept;

// One that differs in a third of its letters at most, or begins with what was written; of several the nearest, and of
// those the first. The words live as long as it does.
class nearest_word {
public:
    explicit nearest_word(std::string_view written, std::initializer_list<std::string_view> words = {}) noexcept
        : written_{written} {
        for (std::string_view const each : words) { among(each); }
    }
    void among(std::string_view word) noexcept;

    [[nodiscard]] std::string_view meant() const noexcept { return meant_; }  // empty: none is near
    // `unknown key: did you mean every? Allowed: every from before`, or `unknown key; allowed: every from before`.
    [[nodiscard]] text<232> told(std::string_view what) const noexcept;

private:
    std::string_view written_, meant_{};
    std::size_t least_ = 0;
    text<140> all_{};
    bool is_cut_ = false;  // there are more
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/nearest_word.ipp>
#endif
