// SPDX-License-Identifier: Apache-2.0
// How much hangs on the weights of the table of causes: each is moved by -1, 0 or 1 at random, and the first causes are
// chosen anew from the signs that were seen at the first alarms.
#include "tables.hpp"
#include "told.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace diagnosis {

namespace {

namespace sd = spotter::detail;

constexpr std::size_t draws = 20, shown_rows = 5;
using weights = std::array<sd::cause_row, std::size(sd::cause_table)>;

void move(sd::cause_row& row, std::mt19937_64& random) {
    for (sd::weighed_sign& each : row.evidence) { each.weight += static_cast<int>(random() % 3) - 1; }
}
// Moves one row of the table, or all.
weights moved(sd::cause which, std::uint64_t seed) {
    weights made = std::to_array(sd::cause_table);
    std::mt19937_64 random{seed};
    for (sd::cause_row& row : made) {
        if (which == sd::cause::none || row.what == which) { move(row, random); }
    }
    return made;
}

// A first line that the table chose.
struct chosen_line {
    first_line const* of = nullptr;
    sd::cause first{};
    bool right = false;

    [[nodiscard]] sd::signs const& seen() const { return of->said->seen; }
};

std::size_t right_with(weights const& table, std::vector<chosen_line> const& lines) {
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](chosen_line const& it) {
        sd::cause const first = sd::rank(it.seen(), table).first;
        return first == it.first ? it.right : it.of->accepts(told_as(first, it.seen()));
    }));
}

// How many first lines are no longer right; below zero: more are.
struct loss {
    sd::cause row{};
    double mean = 0, worst = 0;

    loss(sd::cause which, std::vector<chosen_line> const& lines, std::size_t right) : row{which} {
        for (std::size_t i = 0; i < draws; ++i) {
            double const lost =
                static_cast<double>(right) - static_cast<double>(right_with(moved(which, i + 1), lines));
            mean += lost / draws;
            worst = i == 0 ? lost : (std::max)(worst, lost);
        }
    }
};

void print_loss(std::string const& what, loss const& it, std::size_t count) {
    auto const all = static_cast<double>(count);
    std::printf("| %s | %.3f (%.1f) | %.3f (%.0f) |\n", what.c_str(), it.mean / all, it.mean, it.worst / all, it.worst);
}

}  // namespace

void print_jitter(std::vector<first_line> const& all) {
    std::vector<chosen_line> lines;
    std::size_t right = 0, agreed = 0;
    for (first_line const& each : all) {
        sd::signs const& seen = each.said->seen;
        if (seen.empty()) { continue; }
        lines.push_back({&each, sd::rank(seen).first, each.right()});
        right += lines.back().right ? 1 : 0;
        agreed += told_as(lines.back().first, seen).rule == each.told().rule ? 1 : 0;
    }
    if (lines.empty()) { return; }
    std::printf("\n### Weights of the table moved by -1, 0 or 1\n\n%zu draws. Of %zu first lines that the table chose "
                "%zu are right as it is. In %zu the signs alone tell the rule.\n\n| moved | right ones lost, mean | "
                "worst |\n|---|---|---|\n",
                draws, lines.size(), right, agreed);
    print_loss("all rows", {sd::cause::none, lines, right}, lines.size());
    std::vector<loss> rows;
    for (sd::cause_row const& each : sd::cause_table) { rows.emplace_back(each.what, lines, right); }
    std::sort(rows.begin(), rows.end(),
              [](loss const& a, loss const& b) { return a.mean != b.mean ? a.mean > b.mean : a.row < b.row; });
    for (std::size_t i = 0; i < shown_rows; ++i) {
        print_loss(std::string{sd::row_of(rows[i].row).words}, rows[i], lines.size());
    }
}

}  // namespace diagnosis
