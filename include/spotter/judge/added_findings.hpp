// SPDX-License-Identifier: Apache-2.0
// Judge (L2): findings that are added to a run from elsewhere, as from an examination before it (hook::add).
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI {

// The result of an examination of a loop: its findings and a one-line summary (preflight_result is one).
template <class Result>
concept examined_loop = requires(Result const& it) {
    { it.all()[0].finding } -> std::convertible_to<finding const&>;
    { it.sentence().view() } -> std::convertible_to<std::string_view>;
    { it.proven_right()[0] } -> std::convertible_to<rule_id>;
    { it.gradients()[0].is_right() } -> std::same_as<bool>;
    { it.gradients()[0].line().view() } -> std::convertible_to<std::string_view>;
};

// The texts that a run records of an examination: its summary; and the rule and reason of each finding, so that a
// reader can distinguish these findings from those of rules.
inline constexpr std::string_view examination_event = "preflight";       // the summary
inline constexpr std::string_view examined_event = "preflight/finding";  // one for each finding
// One for each gradient that was not proven correct. The summary counts the others.
inline constexpr std::string_view examined_gradient_event = "preflight/gradient";
// The most of them.
inline constexpr std::size_t most_examined_gradients = 64;
// One for each step at which an experiment had an outcome for an alarm (rule/experiment.hpp).
inline constexpr std::string_view experiment_event = "preflight/answer";
// The text of an examined_event.
[[nodiscard]] inline text<320> examined_text(finding const& it) noexcept {
    text<320> made;
    made << it.rule << ": " << it.reason;
    return made;
}

// Keeps copies of the findings' texts, which may end before the hook does.
class added_findings {
public:
    // A copy whose texts live as long as this. Where memory is exhausted a text is empty.
    [[nodiscard]] finding keep(finding const& it) noexcept;

private:
    [[nodiscard]] std::string_view keep(std::string_view letters) noexcept;

    slot_array<slot_array<char>> texts_{};  // without duplicates
    std::size_t count_ = 0;
};

#if SPOTTER_BODIES

SPOTTER_COLD_BODY finding added_findings::keep(finding const& it) noexcept {
    finding made = it;
    for (std::string_view finding::* const each :
         {&finding::rule, &finding::reason, &finding::tensor, &finding::measure, &finding::remedy}) {
        made.*each = keep(made.*each);
    }
    for (std::uint16_t& each : made.responses) { each = 0; }  // they are numbers of another hook
    made.decision = response_of(made);
    return made;
}

SPOTTER_COLD_BODY std::string_view added_findings::keep(std::string_view letters) noexcept {
    if (letters.empty()) { return {}; }
    for (std::size_t i = 0; i < count_; ++i) {
        std::string_view const known{texts_[i].data(), texts_[i].size()};
        if (known == letters) { return known; }
    }
    slot_array<char> made;
    if (!made.grow(letters.size()) || !texts_.grow(count_ + 1)) { return {}; }
    for (std::size_t i = 0; i < letters.size(); ++i) { made[i] = letters[i]; }
    slot_array<char>& mine = texts_[count_++] = std::move(made);
    return {mine.data(), mine.size()};
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
