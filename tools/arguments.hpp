// SPDX-License-Identifier: Apache-2.0
// Command line: reads steps, modes and statistics from arguments.
#pragma once

#include "nearest.hpp"
#include "workbench/error_of.hpp"

#include <spotter/core/pattern.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/step.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/stat/statistic.hpp>

#include <charconv>
#include <string>
#include <vector>

namespace spotter_tool {

[[nodiscard]] inline spotter::result<spotter::mode> read_mode(std::string_view word) noexcept {
    for (spotter::mode const each : {spotter::mode::train, spotter::mode::eval, spotter::mode::predict}) {
        if (word == name_of(each)) { return each; }
    }
    return error_of(spotter::errc::bad_config, "there is no mode \"", word.substr(0, 60), "\": train, eval or predict");
}

[[nodiscard]] inline spotter::result<spotter::severity> read_severity(std::string_view word) noexcept {
    using spotter::severity;
    if (word == "info") { return severity::note; }  // an older name
    for (severity const each : {severity::note, severity::warning, severity::error}) {
        if (word == name_of(each)) { return each; }
    }
    return error_of(spotter::errc::bad_config, "there is no severity \"", word.substr(0, 60),
                    "\": note, warning or error");
}

// "train:100", "train(100)" as in reports, or "100", which is a step of train.
[[nodiscard]] inline spotter::result<spotter::step_id> read_step(std::string_view text) noexcept {
    spotter::step_id step{};
    std::string_view digits = text;
    if (std::size_t const cut = text.find_first_of(":("); cut != text.npos) {
        auto const mode = read_mode(text.substr(0, cut));
        if (!mode) { return mode.error(); }
        step.mode = *mode;
        digits = text.substr(cut + 1);
        if (text[cut] == '(' && digits.ends_with(')')) { digits.remove_suffix(1); }
    }
    auto const read = std::from_chars(digits.data(), digits.data() + digits.size(), step.index);
    if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) {
        return error_of(spotter::errc::bad_config, "\"", text.substr(0, 60), "\" is no step: write it like train:100");
    }
    return step;
}

// Reads an argument by read_step or another one of these; `into` stays as it is without an argument.
template <class Read, class Into>
[[nodiscard]] spotter::error read_given(std::string_view word, Read const& read, Into& into) {
    if (word.empty()) { return {}; }
    auto const found = read(word);
    if (found) { into = *found; }
    return found.error();
}

// The steps of one mode in a closed interval.
struct step_range {
    spotter::mode mode{};
    std::uint64_t first = 0;
    std::uint64_t last = ~std::uint64_t{0};

    [[nodiscard]] bool holds(spotter::step_id step) const noexcept {
        return step.mode == mode && step.index >= first && step.index <= last;
    }
};
[[nodiscard]] inline bool is_range(std::string_view text) noexcept { return text.find("..") != text.npos; }
// "train:100..200", "100..200", "eval:100..", "..200".
[[nodiscard]] inline spotter::result<step_range> read_range(std::string_view text) {
    step_range range;
    std::size_t const colon = text.find(':'), cut = text.find("..");
    if (colon != text.npos && colon < cut) {
        auto const mode = read_mode(text.substr(0, colon));
        if (!mode) { return mode.error(); }
        range.mode = *mode;
    }
    std::size_t const begin = colon != text.npos && colon < cut ? colon + 1 : 0;
    auto const read = [](std::string_view digits, std::uint64_t& into) {
        if (digits.empty()) { return true; }  // no limit at this end
        auto const [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
        return code == std::errc{} && end == digits.data() + digits.size();
    };
    if (!read(text.substr(begin, cut - begin), range.first) || !read(text.substr(cut + 2), range.last) ||
        range.first > range.last) {
        return error_of(spotter::errc::bad_config, "\"", text.substr(0, 60),
                        "\" is no range of steps: write it like train:100..200, 100.. or ..200");
    }
    return range;
}

// The syntax error of a glob and its position: a malformed glob would match no name without any message.
[[nodiscard]] inline spotter::error check_glob(std::string_view text) noexcept {
    spotter::pattern_fault const bad = spotter::glob{text}.fault();
    if (bad.empty()) { return {}; }
    return error_of(spotter::errc::bad_pattern, "this is no glob: ", bad);
}

// Every built-in statistic by name.
[[nodiscard]] inline std::vector<spotter::statistic> all_statistics() {
    std::vector<spotter::statistic> all;
    for (auto id = static_cast<int>(spotter::statistic_id::minimum);
         id <= static_cast<int>(spotter::statistic_id::neg_inf); ++id) {
        spotter::statistic const plain{static_cast<spotter::statistic_id>(id)};
        all.push_back(plain);
        if (of_abs(plain).name() != plain.name()) { all.push_back(of_abs(plain)); }
    }
    return all;
}
[[nodiscard]] inline spotter::result<spotter::statistic> read_statistic(std::string_view name) {
    spotter::error why{spotter::errc::bad_config, "there is no statistic \""};
    std::vector<std::string> words;
    for (spotter::statistic const& each : all_statistics()) {
        if (each.is_called(name)) { return each; }
        words.emplace_back(each.name());
    }
    why.what << name.substr(0, 40) << "\"";
    if (auto const meant = nearest(name, words)) {
        why.what << ": did you mean " << *meant << "? There";
    } else {
        why.what << "; there";
    }
    why.what << " are";
    for (std::string const& each : words) { why.what << ' ' << each; }
    return why;
}

}  // namespace spotter_tool
