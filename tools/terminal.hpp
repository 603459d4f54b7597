// SPDX-License-Identifier: Apache-2.0
// Command line: properties of the user's terminal: colours, width, support for a progress bar.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace spotter_tool {

enum class colours { automatic, always, never };

// The settings of `--quiet` and `--color`, which main sets before any verb runs. Also the state of the progress bar in
// the terminal's last line, since all output must clear it first.
struct terminal_manners {
    bool quiet = false;
    colours colour = colours::automatic;
    std::mutex line{};     // guards the terminal of standard error
    bool has_bar = false;  // guarded by `line`
};
[[nodiscard]] inline terminal_manners& manners() noexcept {
    static terminal_manners its;
    return its;
}

// Whether it is a terminal that can move its cursor.
[[nodiscard]] inline bool is_terminal(int stream) noexcept {
    char const* const kind = std::getenv("TERM");
    return kind != nullptr && std::string_view{kind} != "dumb" && ::isatty(stream) != 0;
}

// Columns of the terminal behind a stream, or `otherwise` where there is none.
[[nodiscard]] inline int columns_of(int stream, int otherwise) noexcept {
    winsize size{};
    if (::isatty(stream) == 0 || ::ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) { return otherwise; }
    return size.ws_col;
}

// By `--color`, then NO_COLOR (https://no-color.org), then whether it is a terminal.
[[nodiscard]] inline bool has_colours(std::FILE* where) noexcept {
    if (manners().colour != colours::automatic) { return manners().colour == colours::always; }
    char const* const none = std::getenv("NO_COLOR");
    return (none == nullptr || *none == '\0') && is_terminal(::fileno(where));
}

namespace detail {

// The severities with which a line may begin, and their colours.
struct coloured_word {
    std::string_view word;
    std::string_view colour;
};
inline constexpr std::array<coloured_word, 4> coloured_words{
    {{"error:", "\x1b[1;31m"}, {"warning:", "\x1b[1;33m"}, {"note:", "\x1b[36m"}, {"healthy:", "\x1b[1;32m"}}};

}  // namespace detail

// Colours a line's severity, which begins after `from` characters and blanks. For display only.
[[nodiscard]] inline std::string coloured_line(std::string_view line, std::size_t from = 0) {
    std::size_t const begin = line.find_first_not_of(' ', (std::min)(from, line.size()));
    for (detail::coloured_word const& each : detail::coloured_words) {
        if (begin == line.npos || !line.substr(begin).starts_with(each.word)) { continue; }
        std::string text{line.substr(0, begin)};
        text += each.colour;
        text += each.word;
        text += "\x1b[0m";
        return text += line.substr(begin + each.word.size());
    }
    // The program and verb, on standard error: "spotter show: ".
    if (std::size_t const end = line.find(": "); line.starts_with("spotter") && end != line.npos) {
        return "\x1b[1m" + std::string{line.substr(0, end + 1)} + "\x1b[0m" + std::string{line.substr(end + 1)};
    }
    return std::string{line};
}
[[nodiscard]] inline std::string coloured_lines(std::string_view text) {
    std::string all;
    while (!text.empty()) {
        std::size_t const end = (std::min)(text.find('\n'), text.size());
        all += coloured_line(text.substr(0, end));
        all += text.substr(end, 1);
        text.remove_prefix((std::min)(end + 1, text.size()));
    }
    return all;
}

// Writes to a stream; clears the bar first, which its own thread draws again.
inline void put_text(std::string_view text, std::FILE* where) {
    std::lock_guard const one_at_a_time{manners().line};
    if (manners().has_bar) {
        std::fputs("\r\x1b[K", stderr);
        manners().has_bar = false;
    }
    std::fwrite(text.data(), 1, text.size(), where);
}

}  // namespace spotter_tool
