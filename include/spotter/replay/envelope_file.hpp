// SPDX-License-Identifier: Apache-2.0
// Replay (L5): an envelope as a small text file.
#pragma once

#include <spotter/core/parse_number.hpp>
#include <spotter/file/system.hpp>
#include <spotter/replay/envelope.hpp>

#include <charconv>

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

namespace detail {

inline constexpr std::string_view envelope_head = "spotter envelope ";

template <class Number>
void put_number(std::string& out, Number value) {
    char digits[32];
    auto const end = std::to_chars(digits, digits + sizeof digits, value);
    out.append(digits, end.ptr);
}

// Reads the lines; stops at the first malformed one.
class envelope_reader {
public:
    envelope_reader(std::string_view all, std::string_view path) : rest_{all}, path_{path} {}

    [[nodiscard]] result<envelope> read();

private:
    // False at the end. A line without a line end is truncated, and ignored.
    [[nodiscard]] bool next_line();
    [[nodiscard]] static std::string_view word(std::string_view& words) noexcept;
    template <class Number>
    [[nodiscard]] static bool number(std::string_view& words, Number& into) noexcept {
        std::string_view const digits = word(words);
        auto const read = parse_number(digits, into);
        return read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
    }
    [[nodiscard]] static bool statistic_named(std::string_view name, statistic& into) noexcept;
    [[nodiscard]] static int digit(char letter) noexcept;
    [[nodiscard]] static bool name(std::string_view text, std::string& into);
    [[nodiscard]] static bool series(std::string_view words, envelope::entry& into);
    [[nodiscard]] static bool phase(std::string_view words, std::vector<healthy_range>& into);
    // Why a line is refused; empty if it is not.
    [[nodiscard]] std::string_view take(std::string_view kind, std::string_view words);
    [[nodiscard]] std::string_view take_end(std::string_view words) const noexcept;
    [[nodiscard]] bool lacks_phase() const noexcept { return !entries_.empty() && entries_.back().phases.empty(); }
    [[nodiscard]] error wrong(std::string_view what) const noexcept;

    std::string_view rest_;
    std::string_view path_;
    std::string_view line_{};
    std::uint64_t line_number_ = 0, window_ = 1;
    std::vector<envelope::entry> entries_{};
};

}  // namespace detail

// Replaces an existing file atomically. errc: unwritable, disk_full, io_error.
[[nodiscard]] error save_envelope(envelope const& it, std::string_view path, file_system& files = system_files());

// errc: io_error and the like where the file cannot be read, corrupt where a line is malformed (the sentence names it),
// unknown_version.
[[nodiscard]] result<envelope> load_envelope(std::string_view path, file_system& files = system_files());

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/replay/envelope_file.ipp>
#endif
