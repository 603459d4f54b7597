// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include "labels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>

namespace diagnosis {

namespace {

using on = diagnosis_limits;
using of = progress_limits;

constexpr std::array<limit, 34> list{{
    {"earliest", &of::earliest},
    {"improved", &of::improved, true},
    {"least_fall", &of::least_fall},
    {"flat_after", &of::flat_after},
    {"flat_fall", &of::flat_fall},
    {"fallen", &of::fallen, true},
    {"young", &of::young},
    {"worse", &of::worse, true},
    {"lasting", &of::lasting},
    {"lasting_mildly", &of::lasting_mildly},
    {"stirs", &of::stirs},
    {"stirs_at_all", &of::stirs_at_all},
    {"still", &of::still},
    {"climbs", &of::climbs, true},
    {"bottomless", &of::bottomless},
    {"far_worse", &of::far_worse, true},
    {"lasting_far", &of::lasting_far},
    {"runs_away", &of::runs_away},
    {"evaluations", &of::evaluations},
    {"trained", &of::trained},
    {"part", &of::part},
    {"explodes", &of::explodes},
    {"as_first", &of::as_first, true},
    {"alike", &of::alike, true},
    {"hardly", &of::hardly, true},
    {"overfit", &on::overfit},
    {"evaluated_badly", &on::evaluated_badly},
    {"strong", &on::strong},
    {"leap", &on::leap},
    {"large_step", &on::large_step},
    {"small_step", &on::small_step},
    {"sure_step", &on::sure_step},
    {"initial_scale", &on::initial_scale},
    {"raw_input", &on::raw_input},
}};

// What the trainings of all other families cost with each candidate, a row a training; an alarm of any kind counts in
// `alarms`.
struct tried {
    std::vector<std::vector<double>> costs{};
    std::vector<std::size_t> alarms{};
};
tried without(std::string_view family, std::vector<outcome> const& all) {
    std::size_t const count = candidates().size();
    tried made{{}, std::vector<std::size_t>(count)};
    for (outcome const& each : all) {
        if (each.what.family == family || each.candidates.size() != count) { continue; }
        label const is = label_of(each, all);
        if (is != label::clean && !counts_as_faulty(is)) { continue; }
        std::vector<double>& costs = made.costs.emplace_back();
        for (std::size_t i = 0; i < count; ++i) {
            auto const what = static_cast<heard>(each.candidates[i]);
            bool const silent = what == heard::nothing;
            costs.push_back(is == label::clean ? (silent ? 0 : 10) : silent ? 1 : what == heard::another ? 0.5 : 0);
            made.alarms[i] += silent ? 0 : 1;
        }
    }
    return made;
}
double total(tried const& others, std::size_t candidate) {
    double made = 0;
    for (std::vector<double> const& each : others.costs) { made += each[candidate]; }
    return made;
}
// The standard error of the difference of two totals, training by training.
double error_between(tried const& others, std::size_t a, std::size_t b) {
    double squares = 0;
    for (std::vector<double> const& each : others.costs) { squares += (each[a] - each[b]) * (each[a] - each[b]); }
    return std::sqrt(squares);
}
// Its factor of a limit; candidate 0 is what has 1.
std::size_t place_of(std::size_t limit, std::size_t factor) { return 1 + limit * factors.size() + factor; }

// The factor for a limit: of those within one standard error of the best (Breiman et al. 1984) the ones that alarm
// least, and the middle of these.
double factor_for(std::size_t limit, tried const& others) {
    std::vector<std::pair<double, std::size_t>> left{{1.0, 0}};
    for (std::size_t i = 0; i < factors.size(); ++i) { left.emplace_back(factors[i], place_of(limit, i)); }
    auto const cheapest = std::min_element(left.begin(), left.end(), [&](auto const& a, auto const& b) {
        return total(others, a.second) < total(others, b.second);
    });
    std::size_t const best = cheapest->second;
    std::erase_if(left, [&](auto const& each) {
        return total(others, each.second) - total(others, best) > error_between(others, each.second, best);
    });
    std::size_t fewest = others.alarms[best];
    for (auto const& each : left) { fewest = (std::min)(fewest, others.alarms[each.second]); }
    std::erase_if(left, [&](auto const& each) { return others.alarms[each.second] > fewest; });
    auto const [lowest, highest] = std::minmax_element(left.begin(), left.end());
    return std::sqrt(lowest->first * highest->first);
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
    tried const others = without(family, all);
    for (std::size_t i = 0; i < list.size(); ++i) { list[i].scale(made, factor_for(i, others)); }
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
