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
    void among(std::string_view word) noexcept;     // an allowed word, which sentence() lists
    void may_mean(std::string_view word) noexcept;  // one that it does not list

    [[nodiscard]] std::string_view meant() const noexcept { return meant_; }  // empty: none is near
    // `unknown key: did you mean every? Allowed: every from before`, or `unknown key; allowed: every from before`.
    [[nodiscard]] text<232> sentence(std::string_view what) const noexcept;

private:
    std::string_view written_, meant_{};
    std::size_t least_ = 0;
    text<140> all_{};
    bool is_cut_ = false;  // there are more
};

#if SPOTTER_BODIES

SPOTTER_COLD_BODY std::size_t misspelling(std::string_view a, std::string_view b) noexcept {
    constexpr std::size_t longest = 255;
    if (a.size() > longest || b.size() > longest) { return a.size() + b.size(); }
    std::uint16_t rows[3][longest + 1];  // before the last, last, now
    std::uint16_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (std::size_t k = 0; k <= b.size(); ++k) { before[k] = last[k] = static_cast<std::uint16_t>(k); }
    auto const at_most = [](std::uint16_t& value, int other) {
        if (other < value) { value = static_cast<std::uint16_t>(other); }
    };
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<std::uint16_t>(i);
        for (std::size_t k = 1; k <= b.size(); ++k) {
            row[k] = static_cast<std::uint16_t>(last[k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1));
            at_most(row[k], last[k] + 1);
            at_most(row[k], row[k - 1] + 1);
            bool const swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            if (swapped) { at_most(row[k], before[k - 2] + 1); }
        }
        std::uint16_t* const oldest = before;
        before = last, last = row, row = oldest;
    }
    return last[b.size()];
}

SPOTTER_COLD_BODY void nearest_word::among(std::string_view word) noexcept {
    if (!is_cut_) {
        is_cut_ = all_.view().size() + word.size() > 130;
        all_ << ' ' << (is_cut_ ? std::string_view{"..."} : word);
    }
    may_mean(word);
}

SPOTTER_COLD_BODY void nearest_word::may_mean(std::string_view word) noexcept {
    bool const begun = written_.size() > 2 && word.starts_with(written_);
    std::size_t const wrong = begun ? 1 : misspelling(written_, word);
    std::size_t const third = (written_.size() > word.size() ? written_.size() : word.size()) / 3;
    if (wrong > (third > 1 ? third : 1) || (!meant_.empty() && wrong >= least_)) { return; }
    meant_ = word;
    least_ = wrong;
}

SPOTTER_COLD_BODY text<232> nearest_word::sentence(std::string_view what) const noexcept {
    text<232> line{what};
    if (meant_.empty()) { return line << "; allowed:" << all_.view(); }
    return line << ": did you mean " << meant_ << "? Allowed:" << all_.view();
}

#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
