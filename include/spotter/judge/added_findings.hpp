// SPDX-License-Identifier: Apache-2.0
// Judge (L2): findings that are put into a run from elsewhere, as of an examination before it (hook::add).
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI {

// What an examination of a loop has found, and what it says in one line (preflight_result is one).
template <class Result>
concept examined_loop = requires(Result const& it) {
    { it.all()[0].told } -> std::convertible_to<finding const&>;
    { it.sentence().view() } -> std::convertible_to<std::string_view>;
    { it.proven_right()[0] } -> std::convertible_to<rule_id>;
    { it.gradients()[0].is_right() } -> std::same_as<bool>;
    { it.gradients()[0].line().view() } -> std::convertible_to<std::string_view>;
};

// The texts that a run keeps of an examination: its sentence; of each finding the rule and the reason, so that a reader
// knows which recorded findings no rule has found.
inline constexpr std::string_view examination_event = "preflight";       // the sentence
inline constexpr std::string_view examined_event = "preflight/finding";  // one a finding
// One a gradient that was not proven right. Those that were are counted in the sentence.
inline constexpr std::string_view examined_gradient_event = "preflight/gradient";
// The most of them.
inline constexpr std::size_t most_examined_gradients = 64;
// One a step at which an experiment said something of an alarm (rule/experiment.hpp).
inline constexpr std::string_view experiment_event = "preflight/answer";
// Of examined_event.
[[nodiscard]] inline text<320> examined_text(finding const& it) noexcept {
    text<320> made;
    made << it.rule << ": " << it.reason;
    return made;
}

// Keeps the texts of findings, whose own may end before the hook does.
class added_findings {
public:
    // The same with texts that live as long as this. Where memory is exhausted a text is empty.
    [[nodiscard]] finding keep(finding const& it) noexcept;

private:
    [[nodiscard]] std::string_view keep(std::string_view letters) noexcept;

    slot_array<slot_array<char>> texts_{};  // each once
    std::size_t count_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/judge/added_findings.ipp>
#endif
