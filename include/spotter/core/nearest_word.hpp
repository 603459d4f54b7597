// SPDX-License-Identifier: Apache-2.0
// Core (L0): finds the allowed word that a misspelt one probably meant.
#pragma once

#include <spotter/core/text.hpp>

#include <initializer_list>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// Edit distance: wrong, missing, extra and swapped neighbouring letters count 1 each. A word of more than 255 letters
// is far from every other.
[[nodiscard]] std::size_t misspelling(std::string_view a, std::string_view b) noexcept;

// Of the words given, the nearest one that differs in at most a third of its letters, or that begins with the written
// one. The first of equally near ones. The words must outlive this object.
class nearest_word {
public:
    explicit nearest_word(std::string_view written, std::initializer_list<std::string_view> words = {}) noexcept
        : written_{written} {
        for (std::string_view const each : words) { among(each); }
    }
    void among(std::string_view word) noexcept;     // an allowed word, which told() lists
    void may_mean(std::string_view word) noexcept;  // one that it does not list

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
