// SPDX-License-Identifier: Apache-2.0
// Command line: what the user's terminal takes: colours, a bar that is drawn over itself, how wide it is.
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

// What `--quiet` and `--color` say; main sets it before any verb runs. The bar that stands in the last line of the
// terminal belongs to it too, since whoever prints has to clear it first.
struct terminal_manners {
    bool quiet = false;
    colours colour = colours::automatic;
    std::mutex line{};     // of the terminal that standard error goes to
    bool has_bar = false;  // under `line`
};
[[nodiscard]] inline terminal_manners& manners() noexcept {
    static terminal_manners its;
    return its;
}

// A terminal that can move its cursor.
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

// `--color` first, then NO_COLOR (https://no-color.org), then whether it is a terminal.
[[nodiscard]] inline bool has_colours(std::FILE* where) noexcept {
    if (manners().colour != colours::automatic) { return manners().colour == colours::always; }
    char const* const none = std::getenv("NO_COLOR");
    return (none == nullptr || *none == '\0') && is_terminal(::fileno(where));
}

namespace detail {

// The words with which a line may begin that says how grave it is, and the colour of each.
struct coloured_word {
    std::string_view word;
    std::string_view colour;
};
inline constexpr std::array<coloured_word, 4> coloured_words{
    {{"error:", "\x1b[1;31m"}, {"warning:", "\x1b[1;33m"}, {"note:", "\x1b[36m"}, {"healthy:", "\x1b[1;32m"}}};

}  // namespace detail

// A line with the severity in its colour, behind `from` letters and blanks. For eyes only: nothing is decided by it.
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
    // Who speaks, on standard error: "spotter show: ".
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

// Writes to a stream; a bar is cleared before, and drawn again by its own thread.
inline void put_text(std::string_view text, std::FILE* where) {
    std::lock_guard const one_at_a_time{manners().line};
    if (manners().has_bar) {
        std::fputs("\r\x1b[K", stderr);
        manners().has_bar = false;
    }
    std::fwrite(text.data(), 1, text.size(), where);
}

}  // namespace spotter_tool
