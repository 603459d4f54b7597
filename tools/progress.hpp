// SPDX-License-Identifier: Apache-2.0
// Command line: a bar on standard error for work that takes longer than a moment; nothing where that is no terminal.
#pragma once

#include "output.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace spotter_tool {

// Columns of the terminal behind a stream, or `otherwise` where there is none.
[[nodiscard]] inline int columns_of(int stream, int otherwise) noexcept {
    winsize size{};
    if (::isatty(stream) == 0 || ::ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) { return otherwise; }
    return size.ws_col;
}

class progress {
public:
    progress(std::string_view what, std::uint64_t total) : what_{plain(what)}, total_{total} {
        char const* const terminal = std::getenv("TERM");
        bool const dumb = terminal == nullptr || std::string_view{terminal} == "dumb";
        shown_ = !dumb && ::isatty(STDERR_FILENO) != 0;
    }
    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;
    ~progress() {
        if (drawn_) { std::fputs("\r\x1b[K", stderr); }
    }

    // Called often: looks at the clock only on a terminal, and draws ten times a second at most.
    void advance(std::uint64_t amount) {
        done_ += amount;
        if (!shown_) { return; }
        auto const now = clock::now();
        if (now < next_) { return; }
        next_ = now + std::chrono::milliseconds{100};
        drawn_ = true;
        double const share = total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_);
        int const room = columns_of(STDERR_FILENO, 80) - static_cast<int>(what_.size()) - 10;
        int const width = room < 0 ? 0 : room > 50 ? 50 : room;
        int const filled = static_cast<int>((share > 1 ? 1 : share) * width);
        std::string const bar(static_cast<std::size_t>(filled), '#');
        std::fprintf(stderr, "\r%s [%-*s] %3d%%", what_.c_str(), width, bar.c_str(), static_cast<int>(share * 100));
        std::fflush(stderr);
    }

private:
    using clock = std::chrono::steady_clock;

    std::string what_;
    std::uint64_t total_;
    std::uint64_t done_ = 0;
    clock::time_point next_ = clock::now() + std::chrono::milliseconds{500};  // what is done by then needs no bar
    bool shown_ = false;
    bool drawn_ = false;
};

}  // namespace spotter_tool
