// SPDX-License-Identifier: Apache-2.0
// Core (L0): which names are of one number in training and in evaluation.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

inline constexpr std::string_view evaluation_words[] = {"val",  "valid",   "validation", "eval",   "evaluation",
                                                        "test", "testing", "dev",        "holdout"};
inline constexpr std::string_view training_words[] = {"train", "training"};

// The words of a name, of letters and digits; capital letters are as small ones.
class name_words {
public:
    constexpr explicit name_words(std::string_view name) noexcept : rest_{name} {}
    // The next one; empty after the last.
    [[nodiscard]] constexpr std::string_view next() noexcept {
        while (!rest_.empty() && !is_of_word(rest_.front())) { rest_.remove_prefix(1); }
        std::size_t length = 0;
        while (length < rest_.size() && is_of_word(rest_[length])) { ++length; }
        std::string_view const word = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return word;
    }
    [[nodiscard]] static constexpr bool same(std::string_view a, std::string_view b) noexcept {
        if (a.size() != b.size()) { return false; }
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (lower(a[i]) != lower(b[i])) { return false; }
        }
        return true;
    }
    template <std::size_t Count>
    [[nodiscard]] static constexpr bool is_one_of(std::string_view word,
                                                  std::string_view const (&words)[Count]) noexcept {
        for (std::string_view const each : words) {
            if (same(word, each)) { return true; }
        }
        return false;
    }

private:
    [[nodiscard]] static constexpr char lower(char it) noexcept {
        return it >= 'A' && it <= 'Z' ? static_cast<char>(it - 'A' + 'a') : it;
    }
    [[nodiscard]] static constexpr bool is_of_word(char it) noexcept {
        char const letter = lower(it);
        return (letter >= 'a' && letter <= 'z') || (it >= '0' && it <= '9');
    }
    std::string_view rest_;
};

}  // namespace detail

// Whether a name says that it is of an evaluation: `val_loss`, `loss/test`, `validation-rmse`.
[[nodiscard]] constexpr bool says_evaluation(std::string_view name) noexcept {
    detail::name_words words{name};
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
        if (detail::name_words::is_one_of(word, detail::evaluation_words)) { return true; }
    }
    return false;
}

// Whether two names are of one number, in evaluation and in training: `val_loss` is so of `train_loss` and of `loss`.
[[nodiscard]] constexpr bool is_evaluation_of(std::string_view evaluated, std::string_view trained) noexcept {
    if (!says_evaluation(evaluated) || says_evaluation(trained)) { return false; }
    detail::name_words left{evaluated}, right{trained};
    auto const next = [](detail::name_words& of) {
        std::string_view word = of.next();
        while (!word.empty() && (detail::name_words::is_one_of(word, detail::evaluation_words) ||
                                 detail::name_words::is_one_of(word, detail::training_words))) {
            word = of.next();
        }
        return word;
    };
    bool any = false;
    for (;; any = true) {
        std::string_view const one = next(left), other = next(right);
        if (!detail::name_words::same(one, other)) { return false; }
        if (one.empty()) { return any; }
    }
}

}  // namespace spotter::inline SPOTTER_ABI
