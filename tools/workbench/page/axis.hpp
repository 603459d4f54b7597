// SPDX-License-Identifier: Apache-2.0
// Workbench, page: numbers to places along an axis, linear or logarithmic, and the round numbers on it.
#pragma once

#include <spotter/config.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

// Of one figure. Numbers may be anything; what has no place on it is at an end.
class axis {
public:
    struct tick {             // a number that is written at the axis
        double place = 0;     // between `from` and `to`
        std::string label{};  // plain letters: nothing to be escaped
    };

    // `low` and `high` are at the places `from` and `to`. Finite numbers; equal ones are spread apart. Logarithmic
    // where `log` is asked for and all is above zero.
    axis(double low, double high, double from, double to, bool log = false) noexcept;
    // The same with some room beyond both ends.
    [[nodiscard]] axis with_margin(double share) const noexcept;

    [[nodiscard]] bool is_log() const noexcept { return log_; }  // as asked for, and possible
    // What lies beyond an end is at that end.
    [[nodiscard]] double at(double value) const noexcept;
    [[nodiscard]] bool holds(double value) const noexcept;  // it lies between the ends; NaN does not

    // About `wanted` of them. `counts`: labels of whole numbers, such as steps.
    [[nodiscard]] std::vector<tick> ticks(int wanted, bool counts = false) const;

private:
    // Multiples of 1, 2 or 5 times a power of ten.
    [[nodiscard]] std::vector<tick> round_ticks(double low, double high, int wanted, bool counts) const;

    // With as many digits as tell it from its neighbour.
    [[nodiscard]] static std::string label_of(double value, double step);

    double low_, high_, from_, to_;
    bool log_;
};

}  // namespace spotter::inline SPOTTER_ABI::html
