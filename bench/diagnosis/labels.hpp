// SPDX-License-Identifier: Apache-2.0
// Which trainings count as broken and which as healthy: the run decides, not the program. And what the tables count
// with.
#pragma once

#include "outcome.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace diagnosis {

//   manifest    broken on purpose, and it ends worse than every healthy base training of its family, or not finite
//   structural  broken in a way that counts however well it trains
//   latent      broken on purpose, but trains as well as a healthy one: not counted
//   clean       healthy
//   failed      healthy on purpose, but more than three scaled MADs worse than the median of its kind: not counted
enum class label { manifest, structural, latent, clean, failed };

[[nodiscard]] constexpr bool counts_as_faulty(label it) noexcept {
    return it == label::manifest || it == label::structural;
}

struct labelled {
    outcome const* of = nullptr;
    diagnosis::label label = label::clean;
};

// The mean of the middle two where the count is even.
[[nodiscard]] inline double median(std::vector<double> values) {
    if (values.empty()) { return std::numeric_limits<double>::quiet_NaN(); }
    std::sort(values.begin(), values.end());
    std::size_t const middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}
// Nearest rank.
[[nodiscard]] inline double quantile(std::vector<double> values, double q) {
    if (values.empty()) { return std::numeric_limits<double>::quiet_NaN(); }
    std::sort(values.begin(), values.end());
    auto const rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    return values[(std::max)(rank, std::size_t{1}) - 1];
}

// A share with its 95 % interval (Wilson 1927).
struct share {
    std::size_t hits = 0, count = 0;

    void add(bool hit) noexcept {
        hits += hit ? 1 : 0;
        ++count;
    }
    [[nodiscard]] double value() const noexcept {
        return count == 0 ? std::numeric_limits<double>::quiet_NaN()
                          : static_cast<double>(hits) / static_cast<double>(count);
    }
    [[nodiscard]] double bound(double side) const noexcept {
        constexpr double z = 1.959964;
        auto const n = static_cast<double>(count);
        double const p = value(), middle = p + z * z / (2 * n);
        return (middle + side * z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n);
    }
    [[nodiscard]] std::string text() const {
        if (count == 0) { return "–"; }
        char made[80];
        std::snprintf(made, sizeof made, "%.3f (%zu/%zu; %.3f–%.3f)", value(), hits, count, (std::max)(bound(-1), 0.0),
                      (std::min)(bound(1), 1.0));
        return made;
    }
};

// "7/9".
[[nodiscard]] inline std::string short_text(share const& it) {
    return it.count == 0 ? "–" : std::to_string(it.hits) + "/" + std::to_string(it.count);
}

// Of the healthy trainings of a family in one shape.
[[nodiscard]] inline std::vector<double> badness_of(std::vector<outcome> const& all, assignment const& like) {
    std::vector<double> made;
    for (outcome const& each : all) {
        bool const same = each.what.variant == like.variant && each.what.family == like.family;
        if (same && each.what.broken == fault::none && std::isfinite(each.badness)) { made.push_back(each.badness); }
    }
    return made;
}

// "rule 7, other 2", the most frequent first.
[[nodiscard]] inline std::string counts_text(std::map<std::string, std::size_t> const& counts) {
    std::vector<std::pair<std::string, std::size_t>> sorted{counts.begin(), counts.end()};
    std::sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::string made;
    for (auto const& [name, count] : sorted) {
        made += (made.empty() ? "" : ", ") + name + " " + std::to_string(count);
    }
    return made;
}

[[nodiscard]] inline label label_of(outcome const& it, std::vector<outcome> const& all) {
    bool const lost = !it.finite || !std::isfinite(it.badness);
    std::vector<double> peers = badness_of(all, it.what);
    if (it.what.broken == fault::none) {
        double const middle = median(peers);
        for (double& each : peers) { each = std::abs(each - middle); }
        // A hundredth of what there is to learn, at least.
        double const unit = (std::max)(1.4826 * median(peers), 0.01);
        return lost || it.badness > middle + 3 * unit ? label::failed : label::clean;
    }
    bool const worse = std::none_of(peers.begin(), peers.end(), [&](double each) { return it.badness <= each; });
    if (lost || worse) { return label::manifest; }
    return info_of(it.what.broken).structural ? label::structural : label::latent;
}

// Whether one of the rules accepted as the diagnosis is behind a finding.
[[nodiscard]] inline bool is_symptom(reported_finding const& finding, fault of) {
    for (symptom const& each : info_of(of).symptoms) {
        bool const same = !each.rule.empty() && finding.rule == each.rule;
        if (same && finding.reason.find(each.reason) != finding.reason.npos) { return true; }
    }
    return false;
}

}  // namespace diagnosis
