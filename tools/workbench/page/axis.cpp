// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of axis.hpp.
#include "page/axis.hpp"

#include "page/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spotter::inline SPOTTER_ABI::html {

axis::axis(double low, double high, double from, double to, bool log) noexcept
    : low_{low}, high_{high}, from_{from}, to_{to}, log_{log && low > 0} {
    if (log_) { low_ = std::log10(low_), high_ = std::log10(high_); }
    if (!(high_ > low_)) {
        double const room = log_ ? 0.5 : low_ != 0 ? magnitude(low_) * 0.05 : 1;
        low_ -= room, high_ += room;
    }
}

axis axis::with_margin(double share) const noexcept {
    axis wider = *this;
    wider.low_ -= (high_ - low_) * share;
    wider.high_ += (high_ - low_) * share;
    return wider;
}

double axis::at(double value) const noexcept {
    double const it = !log_ ? value : value > 0 ? std::log10(value) : low_;
    double const share = (it - low_) / (high_ - low_);
    return from_ + (std::clamp)(share, 0.0, 1.0) * (to_ - from_);
}

bool axis::holds(double value) const noexcept {
    double const it = !log_ ? value : value > 0 ? std::log10(value) : low_ - 1;
    return it >= low_ && it <= high_;
}

std::vector<axis::tick> axis::ticks(int wanted, bool counts) const {
    std::vector<tick> found;
    bool const decades = log_ && high_ - low_ >= 1.5;
    if (log_ && !decades) { return round_ticks(std::pow(10.0, low_), std::pow(10.0, high_), wanted, counts); }
    if (!log_) { return round_ticks(low_, high_, wanted, counts); }
    double const step = (std::max)(1.0, std::ceil((high_ - low_) / wanted));
    for (double power = std::ceil(low_ / step) * step; power <= high_; power += step) {
        double const value = std::pow(10.0, power);
        found.push_back({at(value), magnitude(power) <= 3 ? number_text(value) : fmt::format("1e{:.0f}", power)});
    }
    return found;
}

std::vector<axis::tick> axis::round_ticks(double low, double high, int wanted, bool counts) const {
    double const rough = (high - low) / wanted;
    double const power = std::pow(10.0, std::floor(std::log10(rough)));
    double const times = rough / power;
    double step = (times <= 1.4 ? 1 : times <= 3 ? 2 : times <= 7 ? 5 : 10) * power;
    if (counts) { step = (std::max)(step, 1.0); }
    std::vector<tick> found;
    double const first = std::ceil(low / step);
    for (double i = 0; i < 20 && (first + i) * step <= high + step * 1e-9; ++i) {
        double const value = magnitude(first + i) < 0.5 ? 0 : (first + i) * step;
        found.push_back({at(value), counts ? short_count(value) : label_of(value, step)});
    }
    return found;
}

std::string axis::label_of(double value, double step) {
    if (value == 0) { return "0"; }
    double const size = magnitude(value);
    if (size < 1e-4 || size >= 1e6) { return number_text(value); }
    auto const digits = static_cast<int>((std::clamp)(std::ceil(-std::log10(step) - 1e-9), 0.0, 9.0));
    return fmt::format("{:.{}f}", value, digits);
}

}  // namespace spotter::inline SPOTTER_ABI::html
