// SPDX-License-Identifier: Apache-2.0
// Command line: the progress of longer work: a bar on standard error with count, rate and time left. Not shown without
// a terminal, or with --quiet.
#pragma once

#include "output.hpp"
#include "terminal.hpp"

#include <spotter/core/work_count.hpp>
#include <spotter/trial/trial.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace spotter_tool {

// What is counted: items, by their plural ("runs"), or bytes. `passes`: how often the work reads all of them.
struct counted {
    std::uint64_t total = 0;  // 0: unknown
    std::string_view what = "bytes";
    std::uint64_t passes = 1;
};

namespace detail {

// Delay of the bar: half a second, or SPOTTER_PROGRESS_AFTER. Faster work shows none.
[[nodiscard]] inline double seconds_without_bar() noexcept {
    char const* const given = std::getenv("SPOTTER_PROGRESS_AFTER");
    double const seconds = given == nullptr ? 0.5 : std::strtod(given, nullptr);
    return seconds >= 0 && seconds < 3600 ? seconds : 0.5;
}
// 0:07, 12:34, 1:02:03.
[[nodiscard]] inline std::string clock_of(double seconds) {
    auto const whole = static_cast<std::uint64_t>(seconds + 0.5);
    std::uint64_t const hours = whole / 3600, minutes = whole / 60 % 60;
    return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                     : fmt::format("{}:{:02}", minutes, whole % 60);
}
// 512 B, 3.1 MB: decimal units.
[[nodiscard]] inline std::string short_bytes(double bytes) {
    constexpr std::string_view units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) { bytes /= 1000; }
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

// "3.1 MB of 10 MB, 1.2 MB/s", without what is unknown.
[[nodiscard]] inline std::string bytes_done(counted const& of, double done, double rate) {
    std::string text = short_bytes(done);
    if (of.total > 0) { text += " of " + short_bytes(static_cast<double>(of.total)); }
    return rate > 0 ? text + fmt::format(", {}/s", short_bytes(rate)) : text;
}
// "12 of 30 runs, 3.1/s".
[[nodiscard]] inline std::string items_done(counted const& of, double done, double rate) {
    std::string text = fmt::format("{:.0f} ", done);
    if (of.total > 0) { text += fmt::format("of {} ", of.total); }
    text += of.what.substr(0, of.what.size() - (of.total == 1 ? 1 : 0));  // "1 run"
    if (!(rate > 0)) { return text; }
    return text + (rate < 10 ? fmt::format(", {:.1f}/s", rate) : fmt::format(", {:.0f}/s", rate));
}

// The line at a moment, at most `columns` wide: "check [####      ]  42%  12 of 30 runs, 3.1/s, 0:06 left".
[[nodiscard]] inline std::string progress_line(std::string_view verb, counted const& of, double done, double seconds,
                                               int columns) {
    done /= static_cast<double>(of.passes);
    bool const known = of.total > 0;
    double const total = static_cast<double>(of.total);
    double const share = !known ? 0 : done < total ? done / total : 1;
    double const rate = seconds > 0 ? done / seconds : 0;
    std::string text = of.what == "bytes" ? bytes_done(of, known ? share * total : done, rate)
                                          : items_done(of, known ? share * total : done, rate);
    text += known && share >= 0.01
                ? fmt::format(", {} left", clock_of((total / done - 1) * seconds * (share < 1 ? 1 : 0)))
                : fmt::format(", {}", clock_of(seconds));
    std::string line = known ? fmt::format("{:3.0f}%  {}", share * 100, text) : text;
    int const room = columns - 1 - static_cast<int>(verb.size() + 4 + line.size());
    if (!known || room < 5) {
        return fmt::format("{}  {}", verb, line).substr(0, static_cast<std::size_t>(columns - 1));
    }
    auto const width = static_cast<std::size_t>((std::min)(room, 40));
    auto const filled = static_cast<std::size_t>(share * static_cast<double>(width));
    return fmt::format("{} [{:<{}}] {}", verb, std::string(filled, '#'), width, line);
}

}  // namespace detail

// A separate thread draws it ten times a second, so it is also updated while one item takes long.
class progress {
public:
    // `wanted`: false where data goes to the terminal.
    progress(std::string_view verb, counted of, bool wanted = true) : verb_{plain(verb)}, of_{of} {
        count_.total = of.total * of.passes;
        if (wanted && !manners().quiet && is_terminal(STDERR_FILENO)) {
            eye_ = std::thread{[this] { watch(); }};
        }
    }
    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;
    ~progress() {
        if (!eye_.joinable()) { return; }
        {
            std::lock_guard const held{guard_};
            over_ = true;
        }
        wake_.notify_all();
        eye_.join();
        put_text({}, stderr);  // clears the line
    }

    // Callable from any thread.
    void advance(std::uint64_t amount) noexcept { count_.add(amount); }
    // For work that counts by itself; it may also set the total.
    [[nodiscard]] spotter::work_count& count() noexcept { return count_; }

private:
    using clock = std::chrono::steady_clock;

    void watch() {
        auto const begin = clock::now();
        std::unique_lock held{guard_};
        auto next = begin + std::chrono::milliseconds{static_cast<int>(1000 * detail::seconds_without_bar())};
        for (bool over = false; !over;) {
            over = wake_.wait_until(held, next, [this] { return over_; });
            if (clock::now() < next) { continue; }
            double const seconds = std::chrono::duration<double>(clock::now() - begin).count();
            counted const now{count_.total / of_.passes, of_.what, of_.passes};
            draw(detail::progress_line(verb_, now, static_cast<double>(count_.done.load()), seconds,
                                       columns_of(STDERR_FILENO, 80)));
            next = clock::now() + std::chrono::milliseconds{100};
        }
    }
    static void draw(std::string const& line) {
        std::lock_guard const one_at_a_time{manners().line};
        std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
        std::fflush(stderr);
        manners().has_bar = true;
    }

    std::string verb_;
    counted of_;
    spotter::work_count count_{};
    std::mutex guard_{};
    std::condition_variable wake_{};
    bool over_ = false;
    std::thread eye_{};
};

// What is counted of reading a run: everything, or only the later passes over rows. Finding the rows is done once;
// where the passes take much longer, including it would give a wrong time left.
enum class reading { all, rows };

// During its lifetime, reading a run advances a bar that counts bytes of the record.
class counted_reading {
public:
    counted_reading(spotter::trial const& run, progress& bar, reading what = reading::rows) : run_{run} {
        if (what == reading::rows) {
            for (auto const& each : run_.readers()) { each->index().complete(); }
        }
        tell(&bar.count());
    }
    counted_reading(counted_reading const&) = delete;
    counted_reading& operator=(counted_reading const&) = delete;
    ~counted_reading() { tell(nullptr); }

private:
    void tell(spotter::work_count* bytes) const {
        for (auto const& each : run_.readers()) { each->index().count_reading(bytes); }
    }
    spotter::trial const& run_;
};

}  // namespace spotter_tool
