// SPDX-License-Identifier: Apache-2.0
// Checks that the comparison in a finding's printed line (measured value against threshold) is true.
#pragma once

#include <spotter/core/parse_number.hpp>
#include <spotter/report/sentence.hpp>
#include <spotter/rule/describe.hpp>

#include <tests/catch.hpp>

#include <string>

namespace spotter_test {

// Takes a number and the blank behind it from the beginning of the text.
inline bool take_number(std::string_view& text, double& into) {
    std::size_t const end = text.find_first_of(" ,\n)");
    std::string_view const word = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + (text[end] == ' ' ? 1 : 0));
    if (word == "inf" || word == "-inf") {
        into = (word == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
        return true;
    }
    auto const read = spotter::parse_number(word, into);
    return read.ec == std::errc{} && read.ptr == word.data() + word.size();
}

// Whether the line has an inequality behind the measured quantity's name, and it is true.
inline bool is_true_in(std::string_view line, spotter::finding const& it) {
    std::string const behind = ": " + std::string{it.measure} + ' ', sign = std::string{symbol_of(it.how)} + ' ';
    while (line.find(behind) != line.npos) {
        line.remove_prefix(line.find(behind) + behind.size());
        std::string_view rest = line;
        double measured = 0, threshold = 0;
        if (!take_number(rest, measured) || !rest.starts_with(sign)) { continue; }
        rest.remove_prefix(sign.size());
        return take_number(rest, threshold) && holds(measured, it.how, threshold);
    }
    return false;
}

// Whether the inequality is true of the numbers, and in both printed lines. A finding without one passes.
inline bool is_true_as_printed(spotter::finding const& it) {
    if (it.how == spotter::relation::none) { return true; }
    spotter::text<1024> line;
    describe(it, line);
    return holds(it.measured, it.how, it.threshold) && is_true_in(line.view(), it) &&
           is_true_in(spotter::detail::sentence_of<std::string>(it), it);
}

// A text that is full was probably cut.
template <std::size_t Capacity>
bool is_full(spotter::text<Capacity> const& it) {
    return it.view().size() == Capacity;
}

template <class Findings>
void check_as_printed(Findings const& all) {
    for (spotter::finding const& each : all) {
        if (is_full(each.detail)) { FAIL_CHECK("cut: " << each.detail.view()); }
        if (is_true_as_printed(each)) { continue; }
        FAIL_CHECK("not true: " << spotter::detail::sentence_of<std::string>(each));
    }
}

}  // namespace spotter_test
