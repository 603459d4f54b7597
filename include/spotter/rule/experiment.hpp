// SPDX-License-Identifier: Apache-2.0
// Rule (L2): what an experiment on the loop says about findings, and its text in a record. The text lets a replay
// report the same as the loop did.
#pragma once

#include <spotter/rule/finding.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// The outcome for a rule that asked for an experiment: it proved the rule's claim, it proved the opposite, or it proved
// neither.
enum class experiment_outcome : std::uint8_t { not_proven, proven, refuted };

// A cause, and the tensor where it is. Views.
struct experiment_place {
    std::string_view cause{}, tensor{};

    [[nodiscard]] bool empty() const noexcept { return cause.empty(); }
    friend bool operator==(experiment_place const&, experiment_place const&) = default;
};

// The result of one experiment. Its texts belong to the code that ran it.
struct experiment_answer {
    // The outcome for the findings of one rule.
    struct word {
        rule_id of = rule_id::other;                                  // the rule
        experiment_outcome outcome = experiment_outcome::not_proven;  // the outcome for its findings
        experiment_place proof{};                                     // cause and place; only where proven
    };
    static constexpr std::size_t most_words = 12;     // further ones are left out
    static constexpr std::size_t longest_name = 120;  // letters of a tensor's name; the rest is cut off

    word words[most_words]{};
    std::size_t count = 0;
    // A fault of the loop's own code that the experiment found; it is reported before everything else. Empty: none.
    // `first_finding` is the finding that reports it.
    experiment_place first{};
    finding const* first_finding = nullptr;

    void add(word it) noexcept {
        it.proof = cut(it.proof);
        if (count < most_words) { words[count++] = it; }
    }
    void lead_with(finding const& it) noexcept { first = place_of(it), first_finding = &it; }
    // Cause and tensor of a finding, cut as an answer holds them.
    [[nodiscard]] static experiment_place place_of(finding const& it) noexcept { return cut({it.rule, it.tensor}); }
    // Whether one of these findings is a warning or an error of a rule for which it has an outcome.
    [[nodiscard]] bool concerns(std::span<finding const> found) const noexcept;
    // Writes the outcome into each finding's detail. A refuted finding becomes a note, a proven one leads. Returns a
    // finding to report in addition: `first_finding`, where it proves none of `found`; otherwise null.
    [[nodiscard]] finding const* apply(std::span<finding> found) const noexcept;

private:
    [[nodiscard]] static experiment_place cut(experiment_place it) noexcept {
        return {it.cause, it.tensor.substr(0, longest_name)};
    }
};

namespace detail {

[[nodiscard]] experiment_answer::word const* word_on(experiment_answer const& it, finding const& of) noexcept;

// The text of an experiment in a record, line by line:
//     right update_direction                            from this step on, findings of this rule are not believed
//     refuted gradient_not_cleared                      findings of this step; `unproven` likewise
//     proven dead_update_path no_gradient 5 fc1/w       cause, length of the tensor's name, the name
//     first no_gradient 5 fc1/w
using experiment_text = text<3072>;
void write_right(experiment_text& into, std::span<rule_id const> rules) noexcept;
void write_answer(experiment_text& into, experiment_answer const& it) noexcept;

// Reads such a text and skips rules that it does not know. Views point into the text.
class experiment_reader {
public:
    explicit experiment_reader(std::string_view letters) noexcept : rest_{letters} {}
    // Reads the rules that are not believed from this step on, and the outcomes for this step. False where the text is
    // malformed.
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
