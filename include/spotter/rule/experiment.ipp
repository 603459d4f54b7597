// SPDX-License-Identifier: Apache-2.0
// The bodies of experiment.hpp.
#pragma once

#include <spotter/core/parse_number.hpp>
#include <spotter/rule/experiment.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

SPOTTER_COLD_BODY experiment_answer::word const* word_on(experiment_answer const& it, finding const& of) noexcept {
    if (of.severity < severity::warning) { return nullptr; }
    for (std::size_t i = 0; i < it.count; ++i) {
        if (it.words[i].of == of.id) { return it.words + i; }
    }
    return nullptr;
}

}  // namespace detail

SPOTTER_COLD_BODY bool experiment_answer::concerns(std::span<finding const> found) const noexcept {
    for (finding const& each : found) {
        if (detail::word_on(*this, each) != nullptr) { return true; }
    }
    return false;
}

SPOTTER_COLD_BODY finding const* experiment_answer::apply(std::span<finding> found) const noexcept {
    bool tells_first = !first.empty() && concerns(found);
    for (finding& each : found) {
        word const* const said = detail::word_on(*this, each);
        if (said == nullptr) { continue; }
        if (said->outcome == experiment_outcome::refuted) {
            each.become_note("refuted: an examination proved it right");
            continue;
        }
        evidence_text why;
        if (said->outcome == experiment_outcome::proven) {
            why << "proven: " << said->proof.cause << " at \"" << said->proof.tensor << '"';
            each.leads = true;
            tells_first = tells_first && said->proof != first;
        } else {
            why << "not proven";
        }
        if (!each.detail.empty()) { why << "; " << each.detail.view(); }
        each.detail = why;
    }
    return tells_first ? first_finding : nullptr;
}

namespace detail {

SPOTTER_COLD_BODY void write_right(experiment_text& into, std::span<rule_id const> rules) noexcept {
    for (rule_id const each : rules) { into << "right " << name_of(each) << '\n'; }
}

SPOTTER_COLD_BODY void write_answer(experiment_text& into, experiment_answer const& it) noexcept {
    auto const put = [&](experiment_place const& at) {
        into << ' ' << at.cause << ' ' << at.tensor.size() << ' ' << at.tensor;
    };
    for (std::size_t i = 0; i < it.count; ++i) {
        constexpr std::string_view names[] = {"unproven ", "proven ", "refuted "};
        into << names[static_cast<std::size_t>(it.words[i].outcome)] << name_of(it.words[i].of);
        if (it.words[i].outcome == experiment_outcome::proven) { put(it.words[i].proof); }
        into << '\n';
    }
    if (it.first.empty()) { return; }
    into << "first";
    put(it.first);
    into << '\n';
}

// Reads up to a space or the end of the line, which stays unread.
SPOTTER_COLD_BODY std::string_view experiment_reader::take_word() noexcept {
    if (!rest_.empty() && rest_.front() == ' ') { rest_.remove_prefix(1); }
    std::string_view const made = rest_.substr(0, rest_.find_first_of(" \n"));
    rest_.remove_prefix(made.size());
    return made;
}

SPOTTER_COLD_BODY bool experiment_reader::take_place(experiment_place& into) noexcept {
    into.cause = take_word();
    std::string_view const digits = take_word();
    std::uint32_t count = 0;
    auto const end = parse_number(digits, count);
    bool const is_number = end.ec == std::errc{} && end.ptr == digits.data() + digits.size();
    if (!is_number || rest_.empty() || rest_.size() - 1 < count) { return false; }
    into.tensor = rest_.substr(1, count);
    rest_.remove_prefix(std::size_t{1} + count);
    return !into.cause.empty();
}

SPOTTER_COLD_BODY bool experiment_reader::take_line() noexcept {
    std::string_view const what = take_word();
    if (what == "first") { return take_place(answer_.first); }
    experiment_answer::word made;
    made.of = rule_id_named(take_word());
    if (what == "right") {
        bool const fits = made.of != rule_id::other && right_count_ < experiment_answer::most_words;
        if (fits) { right_[right_count_++] = made.of; }
        return true;
    }
    bool const is_proven = what == "proven", is_refuted = what == "refuted";
    if (!is_proven && !is_refuted && what != "unproven") { return false; }
    made.outcome = is_proven    ? experiment_outcome::proven
                   : is_refuted ? experiment_outcome::refuted
                                : experiment_outcome::not_proven;
    if (is_proven && !take_place(made.proof)) { return false; }
    if (made.of != rule_id::other) { answer_.add(made); }
    return true;
}

SPOTTER_COLD_BODY bool experiment_reader::read() noexcept {
    while (!rest_.empty()) {
        bool const whole = take_line() && !rest_.empty() && rest_.front() == '\n';
        if (!whole) {
            answer_ = experiment_answer{}, right_count_ = 0;
            return false;
        }
        rest_.remove_prefix(1);
    }
    return true;
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
