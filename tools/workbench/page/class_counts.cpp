// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of class_counts.hpp.
#include "page/class_counts.hpp"

#include <spotter/config.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::html {

void class_counts::add(std::uint32_t label, std::uint32_t said) {
    ++pairs[{label, said}];
    ++labels[label];
    ++predictions[said];
    ++total;
    right += label == said ? 1 : 0;
}

std::uint64_t class_counts::of(std::uint32_t label, std::uint32_t said) const {
    auto const it = pairs.find({label, said});
    return it == pairs.end() ? 0 : it->second;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> class_counts::confused() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> wrong;
    for (auto const& [pair, count] : pairs) {
        if (pair.first != pair.second) { wrong.push_back(pair); }
    }
    std::sort(wrong.begin(), wrong.end(), [&](auto const& a, auto const& b) {
        std::uint64_t const of_a = pairs.at(a), of_b = pairs.at(b);
        return of_a != of_b ? of_a > of_b : a < b;
    });
    return wrong;
}

double class_counts::precision(std::uint32_t which) const {
    auto const said = predictions.find(which);
    return said == predictions.end() ? 0 : static_cast<double>(of(which, which)) / static_cast<double>(said->second);
}

double class_counts::recall(std::uint32_t which) const {
    auto const given = labels.find(which);
    return given == labels.end() ? 0 : static_cast<double>(of(which, which)) / static_cast<double>(given->second);
}

double class_counts::f1(std::uint32_t which) const {
    double const p = precision(which), r = recall(which);
    return p + r > 0 ? 2 * p * r / (p + r) : 0;
}

void class_hits::add(std::uint64_t at, std::uint32_t label, bool right) {
    constexpr std::size_t most = 64;
    double const hit = right ? 1 : 0;
    all_.add(at, hit);
    auto found = each_.find(label);
    if (found == each_.end()) {
        if (each_.size() == most) { return; }
        found = each_.emplace(label, series{64}).first;
    }
    found->second.add(at, hit);
}

}  // namespace spotter::inline SPOTTER_ABI::html
