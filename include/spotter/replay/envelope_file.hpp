// SPDX-License-Identifier: Apache-2.0
// Replay (L5): an envelope as a small text file.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/replay/envelope.hpp>

namespace spotter::inline SPOTTER_ABI {

// The file, version 1: lines of words, separated by one space.
//     spotter envelope 1
//     window 32                    the values are means over this many observations; optional, default 1
//     series train l2 fc1/w        mode, statistic, and up to the end of the line the tensor; bytes below 0x20 and the
//                                  backslash are written \hh (hex)
//     phase 0 64 3.01 3.05         of that series: phase, number of values, low, high; in ascending order, without
//                                  unknown phases
//     end 1                        number of series; the last line
// Numbers are decimal and read back with the same bits.

// Replaces an existing file atomically. errc: unwritable, disk_full, io_error.
[[nodiscard]] error save_envelope(envelope const& it, std::string_view path, file_system& files = system_files());

// errc: io_error and the like where the file cannot be read, corrupt where a line is malformed (the sentence names it),
// unknown_version.
[[nodiscard]] result<envelope> load_envelope(std::string_view path, file_system& files = system_files());

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/parse_number.hpp>
#include <spotter/file/replacing_file.hpp>

#include <charconv>

namespace spotter::inline SPOTTER_ABI::detail {

inline constexpr std::string_view envelope_head = "spotter envelope ";

template <class Number>
void put_number(std::string& out, Number value) {
    char digits[32];
    auto const end = std::to_chars(digits, digits + sizeof digits, value);
    out.append(digits, end.ptr);
}

SPOTTER_BODY void put_name(std::string& out, std::string_view name) {
    constexpr std::string_view hex = "0123456789abcdef";
    for (char const letter : name) {
        auto const byte = static_cast<unsigned char>(letter);
        if (byte >= 0x20 && letter != '\\') {
            out += letter;
        } else {
            out += '\\';
            out += hex[byte >> 4U];
            out += hex[byte & 15U];
        }
    }
}

// Reads the lines; stops at the first malformed one.
class envelope_reader {
public:
    envelope_reader(std::string_view all, std::string_view path) : rest_{all}, path_{path} {}

    [[nodiscard]] result<envelope> read() {
        (void)next_line();
        std::string_view words = line_;
        std::uint32_t version = 0;
        if (!words.starts_with(envelope_head)) { return wrong("this is not an envelope"); }
        words.remove_prefix(envelope_head.size());
        if (!number(words, version)) { return wrong("this is not an envelope"); }
        if (version != 1) {
            error why{errc::unknown_version, "\""};
            why.what << path_ << "\" is an envelope of version " << version << ", and this library reads version 1";
            return why;
        }
        while (next_line()) {
            words = line_;
            std::string_view const kind = word(words);
            std::string_view const fault = kind == "end" ? take_end(words) : take(kind, words);
            if (!fault.empty()) { return wrong(fault); }
            if (kind != "end") { continue; }
            std::size_t const count = entries_.size();
            envelope made{std::move(entries_), window_};
            if (made.entries().size() != count) { return wrong("a series is there twice"); }
            return made;
        }
        return wrong("the file ends before its last line");
    }

private:
    // False at the end. A line without a line end is truncated, and ignored.
    [[nodiscard]] bool next_line() {
        ++line_number_;
        std::size_t const end = rest_.find('\n');
        if (end == rest_.npos) {
            line_ = {};
            return false;
        }
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return true;
    }

    [[nodiscard]] static std::string_view word(std::string_view& words) noexcept {
        std::string_view const first = words.substr(0, words.find(' '));
        words.remove_prefix(first.size() < words.size() ? first.size() + 1 : first.size());
        return first;
    }

    template <class Number>
    [[nodiscard]] static bool number(std::string_view& words, Number& into) noexcept {
        std::string_view const digits = word(words);
        auto const read = parse_number(digits, into);
        return read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
    }

    [[nodiscard]] static bool statistic_named(std::string_view name, statistic& into) noexcept {
        for (std::uint8_t id = 0; id <= static_cast<std::uint8_t>(statistic_id::neg_inf); ++id) {
            for (bool const abs : {false, true}) {
                statistic const each{static_cast<statistic_id>(id), abs};
                if (each.name() != name) { continue; }
                into = each;
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] static int digit(char letter) noexcept {
        return letter >= '0' && letter <= '9' ? letter - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
    }

    [[nodiscard]] static bool name(std::string_view text, std::string& into) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '\\') {
                into += text[i];
                continue;
            }
            if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) { return false; }
            into += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
            i += 2;
        }
        return true;
    }

    [[nodiscard]] static bool series(std::string_view words, envelope::entry& into) {
        std::string_view const which = word(words);
        bool known = false;
        for (mode const each : {mode::train, mode::eval, mode::predict}) {
            if (name_of(each) != which) { continue; }
            into.mode = each;
            known = true;
        }
        return known && statistic_named(word(words), into.of) && name(words, into.tensor);
    }

    [[nodiscard]] static bool phase(std::string_view words, std::vector<healthy_range>& into) {
        std::size_t which = 0;
        healthy_range range;
        bool const read = number(words, which) && number(words, range.count) && number(words, range.low) &&
                          number(words, range.high) && words.empty();
        if (!read || which >= phase_count || which < into.size() || range.count == 0) { return false; }
        if (!is_finite(range.low) || !is_finite(range.high) || range.low > range.high) { return false; }
        into.resize(which + 1);
        into[which] = range;
        return true;
    }

    // Why a line is refused; empty if it is not.
    [[nodiscard]] std::string_view take(std::string_view kind, std::string_view words) {
        if (kind == "window") {
            bool const fine = line_number_ == 2 && number(words, window_) && window_ >= 2 && words.empty();
            return fine ? "" : "expected, as the second line only: window, and how many observations, at least 2";
        }
        if (kind == "series") {
            if (lacks_phase()) { return "the series before has no phase"; }
            return series(words, entries_.emplace_back()) ? "" : "expected: series, mode, statistic, tensor";
        }
        if (kind == "phase") {
            bool const fine = !entries_.empty() && phase(words, entries_.back().phases);
            return fine ? "" : "expected: phase, its number, how many values, low, high; phases ascend";
        }
        return "expected window, series, phase or end";
    }

    [[nodiscard]] std::string_view take_end(std::string_view words) const noexcept {
        std::uint64_t count = 0;
        if (!number(words, count) || count != entries_.size() || !rest_.empty()) {
            return "expected the number of series, and nothing behind it";
        }
        return lacks_phase() ? "the series before has no phase" : "";
    }

    [[nodiscard]] bool lacks_phase() const noexcept { return !entries_.empty() && entries_.back().phases.empty(); }

    [[nodiscard]] error wrong(std::string_view what) const noexcept {
        error why{errc::corrupt, "line "};
        why.what << line_number_ << " of \"" << path_ << "\": " << what;
        return why;
    }

    std::string_view rest_;
    std::string_view path_;
    std::string_view line_{};
    std::uint64_t line_number_ = 0, window_ = 1;
    std::vector<envelope::entry> entries_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY error save_envelope(envelope const& it, std::string_view path, file_system& files) {
    std::string out = std::string{detail::envelope_head} + "1\n";
    if (it.window > 1) { out += "window " + std::to_string(it.window) + '\n'; }
    for (envelope::entry const& each : it.entries()) {
        out.append("series ").append(name_of(each.mode)).append(" ").append(each.of.name()).append(" ");
        detail::put_name(out, each.tensor);
        out += '\n';
        for (std::size_t phase = 0; phase < each.phases.size(); ++phase) {
            healthy_range const& range = each.phases[phase];
            if (range.count == 0) { continue; }
            out += "phase ";
            detail::put_number(out, phase);
            out += ' ';
            detail::put_number(out, range.count);
            out += ' ';
            detail::put_number(out, range.low);
            out += ' ';
            detail::put_number(out, range.high);
            out += '\n';
        }
    }
    out += "end ";
    detail::put_number(out, it.entries().size());
    out += '\n';
    return detail::replace_file(files, path, std::as_bytes(std::span{out}), false);
}

SPOTTER_BODY result<envelope> load_envelope(std::string_view path, file_system& files) {
    std::string text;
    if (error why = detail::read_all(files, path, text)) {
        why.code = why.code == errc::not_a_run ? errc::io_error : why.code;  // the file does not exist
        return why;
    }
    return detail::envelope_reader{text, path}.read();
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
