// SPDX-License-Identifier: Apache-2.0
// Workbench, page: maps numbers to positions on an axis, linear or logarithmic, with round ticks.
#pragma once

#include <spotter/config.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

// An axis of one figure. Accepts any number; one outside the axis is placed at an end.
class axis {
public:
    struct tick {             // a labelled number on the axis
        double place = 0;     // between `from` and `to`
        std::string label{};  // needs no escaping
    };

    // `low` and `high` are at the positions `from` and `to`. They must be finite; equal ones are spread apart.
    // Logarithmic if `log` is requested and both are above zero.
    axis(double low, double high, double from, double to, bool log = false) noexcept;
    // The same with a margin at both ends.
    [[nodiscard]] axis with_margin(double share) const noexcept;

    [[nodiscard]] bool is_log() const noexcept { return log_; }  // requested, and possible
    // The position of a value; values beyond an end are at that end.
    [[nodiscard]] double at(double value) const noexcept;
    [[nodiscard]] bool holds(double value) const noexcept;  // it lies between the ends; false for NaN

    // About `wanted` ticks. `counts`: with labels for whole numbers, such as steps.
    [[nodiscard]] std::vector<tick> ticks(int wanted, bool counts = false) const;

private:
    // Multiples of 1, 2 or 5 times a power of ten.
    [[nodiscard]] std::vector<tick> round_ticks(double low, double high, int wanted, bool counts) const;

    // With enough digits to distinguish it from its neighbour.
    [[nodiscard]] static std::string label_of(double value, double step);

    double low_, high_, from_, to_;
    bool log_;
};

}  // namespace spotter::inline SPOTTER_ABI::html
