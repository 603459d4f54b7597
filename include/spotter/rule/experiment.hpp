// SPDX-License-Identifier: Apache-2.0
// Rule (L2): what an experiment on the loop says of what rules found, and its line in a record: so that a replay tells
// it as the loop heard it.
#pragma once

#include <spotter/rule/finding.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// What an experiment says of a rule that asked for one: it found what the rule names; it proved the opposite; or
// neither.
enum class experiment_outcome : std::uint8_t { not_proven, proven, refuted };

// A cause, and where it is. Views.
struct experiment_place {
    std::string_view cause{}, tensor{};

    [[nodiscard]] bool empty() const noexcept { return cause.empty(); }
    friend bool operator==(experiment_place const&, experiment_place const&) = default;
};

// What one experiment says. The texts are of whoever made it.
struct experiment_answer {
    // Of findings of one rule.
    struct word {
        rule_id of = rule_id::other;                                  // which
        experiment_outcome outcome = experiment_outcome::not_proven;  // what it says of them
        experiment_place proof{};                                     // of what is proven
    };
    static constexpr std::size_t most_words = 12;     // further ones are left out
    static constexpr std::size_t longest_name = 120;  // of a tensor; the rest of it is cut off

    word words[most_words]{};
    std::size_t count = 0;
    // A fault of the loop's own code that it found, and that stands before all else; empty: none. And as it is told.
    experiment_place first{};
    finding const* told_first = nullptr;

    void add(word it) noexcept {
        it.proof = cut(it.proof);
        if (count < most_words) { words[count++] = it; }
    }
    void lead_with(finding const& it) noexcept { first = place_of(it), told_first = &it; }
    // What a finding names, as it stands in an answer.
    [[nodiscard]] static experiment_place place_of(finding const& it) noexcept { return cut({it.rule, it.tensor}); }
    // Whether a warning or an error among these is of a rule that it says something of.
    [[nodiscard]] bool concerns(std::span<finding const> found) const noexcept;
    // Says of each in its detail what it is; what is refuted becomes a note, what is proven leads. What is to be told
    // beside them: `told_first`, where nothing found is proven by it; or null.
    [[nodiscard]] finding const* apply(std::span<finding> found) const noexcept;

private:
    [[nodiscard]] static experiment_place cut(experiment_place it) noexcept {
        return {it.cause, it.tensor.substr(0, longest_name)};
    }
};

namespace detail {

[[nodiscard]] experiment_answer::word const* word_on(experiment_answer const& it, finding const& of) noexcept;

// A record's text of an experiment, line by line:
//     right update_direction                            from here on no rule of that name is believed
//     refuted gradient_not_cleared                      of findings of this step; `unproven` likewise
//     proven dead_update_path no_gradient 5 fc1/w       cause, letters of the name, the name
//     first no_gradient 5 fc1/w
using experiment_text = text<3072>;
void write_right(experiment_text& into, std::span<rule_id const> rules) noexcept;
void write_answer(experiment_text& into, experiment_answer const& it) noexcept;

// Reads such a text; what it does not know it leaves out. Views are of the text.
class experiment_reader {
public:
    explicit experiment_reader(std::string_view letters) noexcept : rest_{letters} {}
    // The rules that are right from here on, and what is said of this step. False where it is no such text.
    bool read() noexcept;

    [[nodiscard]] experiment_answer const& answer() const noexcept { return answer_; }
    [[nodiscard]] std::span<rule_id const> right() const noexcept { return {right_, right_count_}; }

private:
    [[nodiscard]] std::string_view take_word() noexcept;
    [[nodiscard]] bool take_place(experiment_place& into) noexcept;
    [[nodiscard]] bool take_line() noexcept;

    std::string_view rest_;
    experiment_answer answer_{};
    rule_id right_[experiment_answer::most_words]{};
    std::size_t right_count_ = 0;
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/rule/experiment.ipp>
#endif
