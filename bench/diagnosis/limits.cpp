// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include "labels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace diagnosis {

namespace {

using on = diagnosis_limits;
using of = progress_limits;

constexpr std::array<limit, 37> list{{
    {"earliest", &of::earliest},
    {"improved", &of::improved, true},
    {"least_fall", &of::least_fall},
    {"flat_after", &of::flat_after},
    {"flat_fall", &of::flat_fall},
    {"fallen", &of::fallen, true},
    {"fallen_for", &of::fallen_for},
    {"young", &of::young},
    {"worse", &of::worse, true},
    {"lasting", &of::lasting},
    {"lasting_mildly", &of::lasting_mildly},
    {"stirs", &of::stirs},
    {"stirs_at_all", &of::stirs_at_all},
    {"still", &of::still},
    {"still_at_all", &of::still_at_all},
    {"climbs", &of::climbs, true},
    {"bottomless", &of::bottomless},
    {"far_worse", &of::far_worse, true},
    {"lasting_far", &of::lasting_far},
    {"runs_away", &of::runs_away},
    {"evaluations", &of::evaluations},
    {"trained", &of::trained},
    {"as_before", &of::as_before, true},
    {"as_first", &of::as_first, true},
    {"alike", &of::alike, true},
    {"stirs_not", &of::stirs_not, true},
    {"hardly", &of::hardly, true},
    {"overfit", &on::overfit},
    {"evaluated_badly", &on::evaluated_badly},
    {"strong", &on::strong},
    {"leap", &on::leap},
    {"large_step", &on::large_step},
    {"large_step_if_worse", &on::large_step_if_worse},
    {"small_step", &on::small_step},
    {"sure_step", &on::sure_step},
    {"initial_scale", &on::initial_scale},
    {"raw_input", &on::raw_input},
}};

// Costs of each candidate.
std::vector<double> costs(std::string_view without, std::vector<outcome> const& all) {
    std::vector<double> made(candidates().size(), 0.0);
    for (outcome const& each : all) {
        if (each.what.family == without || each.candidates.size() != made.size()) { continue; }
        label const is = label_of(each, all);
        for (std::size_t i = 0; i < made.size(); ++i) {
            auto const what = static_cast<heard>(each.candidates[i]);
            if (is == label::clean) { made[i] += what == heard::nothing ? 0 : 10; }
            if (counts_as_faulty(is)) { made[i] += what == heard::nothing ? 1 : what == heard::another ? 0.5 : 0; }
        }
    }
    return made;
}

}  // namespace

std::span<limit const> limits() { return list; }

double limit::read(diagnosis_limits const& from) const {
    if (auto const* const mine = std::get_if<double on::*>(&where)) { return from.*(*mine); }
    if (auto const* const mine = std::get_if<double of::*>(&where)) { return from.progress.*(*mine); }
    return static_cast<double>(from.progress.*std::get<std::uint64_t of::*>(where));
}

void limit::scale(diagnosis_limits& all, double factor) const {
    double const now = read(all), next = from_one ? 1 + (now - 1) * factor : now * factor;
    if (auto const* const mine = std::get_if<double on::*>(&where)) {
        all.*(*mine) = next;
    } else if (auto const* const other = std::get_if<double of::*>(&where)) {
        all.progress.*(*other) = next;
    } else {
        all.progress.*std::get<std::uint64_t of::*>(where) = static_cast<std::uint64_t>(std::lround(next));
    }
}

std::vector<diagnosis_limits> candidates() {
    std::vector<diagnosis_limits> made(1);
    for (limit const& each : list) {
        for (double const factor : factors) { each.scale(made.emplace_back(), factor); }
    }
    return made;
}

diagnosis_limits chosen_without(std::string_view family, std::vector<outcome> const& all) {
    diagnosis_limits made;
    std::vector<double> const cost = costs(family, all);
    for (std::size_t i = 0; i < list.size(); ++i) {
        double best = cost[0], lowest = 1, highest = 1;
        for (std::size_t k = 0; k < factors.size(); ++k) {
            double const mine = cost[1 + i * factors.size() + k];
            if (mine < best) { best = mine, lowest = highest = factors[k]; }
            if (mine > best) { continue; }
            lowest = (std::min)(lowest, factors[k]);
            highest = (std::max)(highest, factors[k]);
        }
        list[i].scale(made, std::sqrt(lowest * highest));
    }
    return made;
}

void print_chosen(std::span<diagnosis_limits const> chosen) {
    std::printf("\n### Limits chosen without the family\n\n| limit | as it is | chosen, lowest | highest |\n"
                "|---|---|---|---|\n");
    for (limit const& each : list) {
        double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
        for (diagnosis_limits const& one : chosen) {
            lowest = (std::min)(lowest, each.read(one));
            highest = (std::max)(highest, each.read(one));
        }
        std::printf("| %s | %g | %g | %g |\n", std::string{each.name}.c_str(), each.read({}), lowest, highest);
    }
}

}  // namespace diagnosis
