// SPDX-License-Identifier: Apache-2.0
// Core (L0): whether a name belongs to training or evaluation, and whether two names are one quantity in both.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Each word also matches with the ending `ing`.
inline constexpr std::string_view evaluation_words[] = {"val",        "valid", "validation", "eval",
                                                        "evaluation", "test",  "dev",        "holdout"};
inline constexpr std::string_view training_words[] = {"train", "learn"};

// Splits a name into words of letters and digits; case is ignored.
class name_words {
public:
    constexpr explicit name_words(std::string_view name) noexcept : rest_{name} {}
    // The next word; empty after the last.
    [[nodiscard]] constexpr std::string_view next() noexcept {
        while (!rest_.empty() && !is_of_word(rest_.front())) { rest_.remove_prefix(1); }
        std::size_t length = 0;
        while (length < rest_.size() && is_of_word(rest_[length])) { ++length; }
        std::string_view const word = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return word;
    }
    [[nodiscard]] static constexpr char lower(char it) noexcept {
        return it >= 'A' && it <= 'Z' ? static_cast<char>(it - 'A' + 'a') : it;
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
        std::string_view const ending = word.size() > 3 ? word.substr(word.size() - 3) : std::string_view{};
        std::string_view const stem = same(ending, "ing") ? word.substr(0, word.size() - 3) : word;
        for (std::string_view const each : words) {
            if (same(stem, each)) { return true; }
        }
        return false;
    }

private:
    [[nodiscard]] static constexpr bool is_of_word(char it) noexcept {
        char const letter = lower(it);
        return (letter >= 'a' && letter <= 'z') || (it >= '0' && it <= '9');
    }
    std::string_view rest_;
};

// Splits a name into words and takes out those that name a data set: `valid_0's`, `training`, `test`.
class set_words {
public:
    constexpr explicit set_words(std::string_view name) noexcept : words_{name} {}

    // The next word that does not name a data set; empty after the last.
    [[nodiscard]] constexpr std::string_view next() noexcept {
        for (;;) {
            std::string_view const word = words_.next();
            bool const evaluates = name_words::is_one_of(word, evaluation_words);
            bool const is_set = evaluates || name_words::is_one_of(word, training_words);
            evaluation_ = evaluation_ || evaluates, any_ = any_ || is_set;
            bool const of_set = after_set_ && (is_number(word) || word == "s");  // valid_0's
            if (of_set && is_number(word)) { number_ = word; }
            after_set_ = is_set || of_set;
            if (!is_set && !of_set) { return word; }
        }
    }
    // Of the words so far: whether one named a set; whether that is an evaluation set; and the set's number.
    [[nodiscard]] constexpr bool any() const noexcept { return any_; }
    [[nodiscard]] constexpr bool evaluation() const noexcept { return evaluation_; }
    [[nodiscard]] constexpr std::string_view number() const noexcept { return number_; }

private:
    [[nodiscard]] static constexpr bool is_number(std::string_view word) noexcept {
        return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
    }
    name_words words_;
    bool any_ = false, evaluation_ = false, after_set_ = false;
    std::string_view number_{};
};

}  // namespace detail

// Whether a name belongs to an evaluation: `val_loss`, `loss/test`, `validation-rmse`, `valid_0's auc`.
[[nodiscard]] constexpr bool says_evaluation(std::string_view name) noexcept {
    detail::set_words words{name};
    while (!words.next().empty()) {}
    return words.evaluation();
}

// Whether two names are the same quantity in evaluation and in training: `val_loss` with `train_loss` or `loss`,
// `valid_0's l2` with `training's l2`.
[[nodiscard]] constexpr bool is_evaluation_of(std::string_view evaluated, std::string_view trained) noexcept {
    if (!says_evaluation(evaluated) || says_evaluation(trained)) { return false; }
    detail::set_words left{evaluated}, right{trained};
    bool any = false;
    for (;; any = true) {
        std::string_view const one = left.next(), other = right.next();
        if (!detail::name_words::same(one, other)) { return false; }
        if (one.empty()) { return any && (right.number().empty() || right.number() == left.number()); }
    }
}

}  // namespace spotter::inline SPOTTER_ABI
