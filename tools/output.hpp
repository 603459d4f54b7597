// SPDX-License-Identifier: Apache-2.0
// Command line: the output of verbs: exit codes, text on the terminal, one JSON document, errors.
#pragma once

#include "terminal.hpp"
#include "workbench/error_of.hpp"

#include <spotter/core/plain.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/core/step.hpp>
#include <spotter/core/utf8.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace spotter_tool {

// Documented in docs/tools.md and in `spotter --help`.
enum exit_code : int {
    fine = 0,
    found = 1,  // a finding, a difference
    bad_usage = 2,
    absent = 3,
    failed = 4,          // an error with a file
    something_lost = 5,  // part of the record is lost
    ended_badly = 6,     // the run died or failed
    not_judged = 7       // or nothing was compared
};

// "1 step", "2 steps".
[[nodiscard]] inline std::string plural(std::uint64_t count, std::string_view what) {
    return std::string{spotter::detail::plural(count, what)};
}

[[nodiscard]] inline std::string joined(std::vector<std::string> const& words, std::string_view between = ", ") {
    std::string text;
    for (std::string const& each : words) { text.append(text.empty() ? std::string_view{} : between).append(each); }
    return text;
}

[[nodiscard]] inline exit_code exit_of(spotter::errc code) noexcept {
    using enum spotter::errc;
    constexpr spotter::errc of_usage[] = {bad_config, bad_pattern, wrong_type};
    constexpr spotter::errc of_absence[] = {no_such_name, no_such_step, not_in_step,    not_yet,   no_more_data,
                                            no_payload,   no_shape,     no_such_worker, not_a_run, unknown_version};
    auto const is_in = [=](auto const& all) {
        return std::find(std::begin(all), std::end(all), code) != std::end(all);
    };
    if (code == none) { return fine; }
    if (code == corrupt) { return something_lost; }
    return is_in(of_usage) ? bad_usage : is_in(of_absence) ? absent : failed;
}

using json = nlohmann::ordered_json;  // keeps the documented order of keys

// A list with `one(each)` for each of all.
template <class All, class One>
[[nodiscard]] json json_list(All const& all, One const& one) {
    json list = json::array();
    for (auto const& each : all) { list.push_back(one(each)); }
    return list;
}

// Text of a record for a terminal: a name must not move the cursor, or change colours or the direction of text.
[[nodiscard]] inline std::string plain(std::string_view text) {
    std::string safe;
    spotter::put_plain(text, [&](std::string_view piece) { safe += piece; });
    return safe;
}

// The same for a text of several lines and columns.
[[nodiscard]] inline std::string plain_lines(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        std::size_t const end = (std::min)(text.find_first_of("\n\t"), text.size());
        safe += plain(text.substr(0, end));
        safe += text.substr(end, 1);
        text.remove_prefix((std::min)(end + 1, text.size()));
    }
    return safe;
}

// A name in quotes.
[[nodiscard]] inline std::string quoted(std::string_view name) { return '"' + plain(name) + '"'; }
// The first elements of a list, and the number of further ones.
template <class Value, class Word>
[[nodiscard]] std::string some_of(std::vector<Value> const& all, Word const& word, std::size_t most = 8) {
    std::string text;
    for (std::size_t i = 0; i < all.size() && i < most; ++i) { text += (i == 0 ? "" : ", ") + word(all[i]); }
    if (all.size() > most) { text += fmt::format(", and {} more", all.size() - most); }
    return text;
}

namespace detail {

// 1e-7 and 1e20, as in findings, from 1e-07 and 1e+20.
[[nodiscard]] inline std::string short_exponent(std::string digits) {
    std::size_t const e = digits.find('e');
    if (e == digits.npos) { return digits; }
    std::size_t at = e + 1;
    if (digits[at] == '+') {
        digits.erase(at, 1);
    } else if (digits[at] == '-') {
        ++at;
    }
    while (digits[at] == '0' && at + 1 < digits.size()) { digits.erase(at, 1); }
    return digits;
}

// A number as text: with six digits, or `exact`, with all digits that read back as the same double.
[[nodiscard]] inline std::string float_text(double const& value, bool exact) {
    switch (spotter::classify(value)) {
        case spotter::number_class::nan:
            return "nan";
        case spotter::number_class::pos_inf:
            return "inf";
        case spotter::number_class::neg_inf:
            return "-inf";
        default:
            return short_exponent(exact ? fmt::format("{}", value) : fmt::format("{:.6g}", value));
    }
}

}  // namespace detail

// JSON has no NaN and no infinity: these become the texts "nan", "inf" and "-inf".
[[nodiscard]] inline json number(double const& value) {
    return spotter::is_finite(value) ? json(value) : json(detail::float_text(value, true));
}
[[nodiscard]] inline json step_json(spotter::step_id step) {
    return {{"mode", std::string{name_of(step.mode)}}, {"index", step.index}};
}
[[nodiscard]] inline std::string step_text(spotter::step_id step) {
    return fmt::format("{}({})", name_of(step.mode), step.index);
}

// All human-readable output goes through here. Only printable characters, line ends and tabs are printed, whatever a
// record, a path or an argument contains.
inline void say(std::string_view text, std::FILE* where = stdout) {
    std::string const safe = plain_lines(text);
    put_text(has_colours(where) ? coloured_lines(safe) : safe, where);
}
// For data (a file on standard output), and for screens whose parts are already plain.
inline void say_as_is(std::string_view text, std::FILE* where = stdout) { put_text(text, where); }

// A text as documents have it: bytes that are no UTF-8 are escaped.
[[nodiscard]] inline std::string utf8_of(std::string_view text) {
    std::string made;
    spotter::put_utf8(text, [&](std::string_view piece) { made += piece; });
    return made;
}

// As text; bytes of names that are not UTF-8 become \xff.
[[nodiscard]] inline std::string dump_utf8(json const& document, int indent = -1) {
    try {
        return document.dump(indent);
    } catch (json::type_error const&) {}  // a name is not UTF-8, which is rare
    auto const copy = [&](auto const& self, json const& from) -> json {
        if (from.is_string()) { return utf8_of(from.get_ref<std::string const&>()); }
        if (!from.is_structured()) { return from; }
        json into = from.is_array() ? json::array() : json::object();
        for (auto const& [key, each] : from.items()) {
            from.is_array() ? into.push_back(self(self, each)) : void(into[utf8_of(key)] = self(self, each));
        }
        return into;
    };
    return copy(copy, document).dump(indent);
}

// A document that is safe for a terminal too: JSON can escape all special characters.
[[nodiscard]] inline std::string document_text(json const& document, int indent) {
    std::string const dumped = dump_utf8(document, indent);
    std::string safe;
    for (std::size_t i = 0; i < dumped.size();) {
        std::size_t const size = spotter::detail::plain_letter_size(dumped, i);
        if (size != 0 || dumped[i] == '\n') {
            safe += dumped.substr(i, size == 0 ? 1 : size);
            i += size == 0 ? 1 : size;
            continue;
        }
        std::size_t const whole = (std::max)(spotter::detail::letter_size(dumped, i), std::size_t{1});
        std::uint32_t code = static_cast<unsigned char>(dumped[i]) & (whole == 1 ? 0x7FU : whole == 2 ? 0x1FU : 0x0FU);
        for (std::size_t at = 1; at < whole; ++at) {
            code = code << 6U | (static_cast<unsigned char>(dumped[i + at]) & 0x3FU);
        }
        safe += fmt::format("\\u{:04x}", code);
        i += whole;
    }
    return safe;
}

// The whole result of a verb as data, on standard output.
inline void say_document(json const& document) { say_as_is(document_text(document, 2) + '\n'); }

// The beginning of every document.
[[nodiscard]] inline json document_of(std::string_view verb, std::string_view path) {
    return {{"verb", std::string{verb}}, {"path", std::string{path}}};
}

// As one word of a shell, in single quotes. Characters of `also` get a backslash, because the shell evaluates the text
// a second time.
[[nodiscard]] inline std::string shell_text(std::string_view text, std::string_view also = "") {
    std::string safe = "'";
    for (char const letter : text) {
        if (letter == '\'') {
            safe += "'\\''";
            continue;
        }
        if (also.find(letter) != also.npos) { safe += '\\'; }
        safe += letter;
    }
    return safe + '\'';
}

// Ends a verb that failed: prints the error to standard error, and with --json also a document. `hint`: what exists
// instead.
[[nodiscard]] inline exit_code fail(spotter::error const& why, bool as_json, std::string_view verb,
                                    std::string_view path, std::string_view hint = {}) {
    std::string const sentence =
        hint.empty() ? std::string{why.what.view()} : fmt::format("{}; {}", why.what.view(), hint);
    if (as_json) {
        json document = document_of(verb, path);
        document["error"] = {{"code", std::string{name_of(why.code)}}, {"text", sentence}};
        say_document(document);
    }
    say(fmt::format("spotter {}: {}\n", verb, plain(sentence)), stderr);  // as one line
    return exit_of(why.code);
}

}  // namespace spotter_tool
