// SPDX-License-Identifier: Apache-2.0
// Command line: draws a curve in one line and a histogram in several, with characters.
#pragma once

#include "numbers.hpp"

#include <spotter/stat/distribution.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace spotter_tool {

// One column for each value; if there are more values than columns, each column is the mean of its part. A blank marks
// an unknown value, an x one that is not finite.
[[nodiscard]] inline std::string sparkline(std::vector<double> const& values, std::vector<bool> const& known,
                                           std::size_t columns, bool ascii) {
    struct column {
        double sum = 0;
        std::size_t finite = 0;
        bool other = false;
    };
    std::size_t const count = values.size();
    std::vector<column> shares((std::min)(columns, count));
    for (std::size_t i = 0; i < count; ++i) {
        column& each = shares[i * shares.size() / count];
        if (!known[i]) { continue; }
        if (spotter::is_finite(values[i])) {
            each.sum += values[i];
            ++each.finite;
        } else {
            each.other = true;
        }
    }
    double least = 0, most = 0;
    bool any = false;
    for (column& each : shares) {
        if (each.finite == 0) { continue; }
        each.sum /= static_cast<double>(each.finite);
        least = any ? (std::min)(least, each.sum) : each.sum;
        most = any ? (std::max)(most, each.sum) : each.sum;
        any = true;
    }
    constexpr std::string_view blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::string_view letters[] = {"_", ".", ",", "-", "~", "=", "*", "#"};
    std::string line;
    for (column const& each : shares) {
        if (each.other || each.finite == 0) {
            line += each.other ? "x" : " ";
            continue;
        }
        // Halved before they are subtracted, so that no difference overflows.
        double const range = most * 0.5 - least * 0.5;
        double const share = range > 0 ? (each.sum * 0.5 - least * 0.5) / range : 0;
        auto const level = (std::min)(std::size_t{7}, static_cast<std::size_t>(share * 8));
        line += ascii ? letters[level] : blocks[level];
    }
    return line;
}

// The bins in groups of four, one line each: lower end, count, bar.
[[nodiscard]] inline std::string histogram_text(spotter::distribution const& it, std::size_t columns, bool ascii) {
    constexpr std::size_t lines = 16, together = spotter::histogram_bins / lines;
    std::array<std::uint64_t, lines> counts{};
    for (std::size_t bin = 0; bin < it.bins.size(); ++bin) { counts[bin / together] += it.bins[bin]; }
    std::uint64_t const most = (std::max)(std::uint64_t{1}, *std::max_element(counts.begin(), counts.end()));
    std::size_t const digits = std::to_string(most).size();
    std::size_t const room = columns > digits + 20 ? columns - digits - 20 : 1;
    std::string text;
    // All values are equal.
    if (!(it.low < it.high)) { return fmt::format("{:>12}  {}\n", detail::float_text(it.low, false), counts[0]); }
    for (std::size_t i = 0; i < lines; ++i) {
        double const share = static_cast<double>(i) / lines;
        double const edge = it.low * (1 - share) + it.high * share;
        double const length = static_cast<double>(counts[i]) / static_cast<double>(most) * static_cast<double>(room);
        auto const whole = static_cast<std::size_t>(length);
        std::string bar;
        for (std::size_t k = 0; k < whole; ++k) { bar += ascii ? "#" : "█"; }
        if (counts[i] > 0 && whole == 0) { bar = ascii ? "." : "▏"; }
        text += fmt::format("{:>12}  {:>{}}  {}\n", detail::float_text(edge, false), counts[i], digits, bar);
    }
    return text + fmt::format("{:>12}\n", detail::float_text(it.high, false));
}

[[nodiscard]] inline std::string quantiles_text(spotter::distribution const& it) {
    std::string text;
    for (std::size_t i = 0; i < it.quantiles.size(); ++i) {
        for (unsigned const wanted : {0U, 10U, 250U, 500U, 750U, 990U, 1000U}) {
            if (spotter::quantile_levels[i] != wanted) { continue; }
            std::string const name = wanted == 0      ? "least"
                                     : wanted == 500  ? "median"
                                     : wanted == 1000 ? "most"
                                                      : fmt::format("{}%", wanted / 10);
            text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, detail::float_text(it.quantiles[i], false));
        }
    }
    return text;
}

}  // namespace spotter_tool
