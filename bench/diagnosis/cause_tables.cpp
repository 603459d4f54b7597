// SPDX-License-Identifier: Apache-2.0
// How far each first line of spotter's pack is to be trusted, and its "or".
#include "tables.hpp"
#include "told.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace diagnosis {

namespace {

void print_first_lines(std::vector<first_line> const& lines) {
    std::map<std::string, share> rules;
    for (first_line const& each : lines) { rules[each.told().rule].add(each.right()); }
    std::vector<std::pair<std::string, share>> sorted{rules.begin(), rules.end()};
    std::sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) {
        return a.second.count != b.second.count ? a.second.count > b.second.count : a.first < b.first;
    });
    std::printf(
        "\n### First lines, spotter's pack\n\n| first line | right | wrong | share right |\n|---|---|---|---|\n");
    for (auto const& [rule, it] : sorted) {
        std::printf("| `%s` | %zu | %zu | %.2f |\n", rule.c_str(), it.hits, it.count - it.hits, it.value());
    }
}

void print_two(std::vector<first_line> const& lines) {
    share two, first, second, either;
    for (first_line const& each : lines) {
        reported_finding const other = second_of(*each.said);
        bool const right = each.right(), or_right = !right && each.accepts(other);
        two.add(!other.rule.empty());
        either.add(right || or_right);
        if (other.rule.empty()) { continue; }
        first.add(right);
        second.add(or_right);
    }
    std::printf(
        "\n### A or B, spotter's pack\n\n| two causes told | of these the first is right | only the second is | "
        "first or second, of all |\n|---|---|---|---|\n| %s | %s | %s | %s |\n",
        two.text().c_str(), first.text().c_str(), second.text().c_str(), either.text().c_str());
}

}  // namespace

void print_causes(std::vector<first_line> const& lines) {
    print_first_lines(lines);
    print_two(lines);
    print_jitter(lines);
}

}  // namespace diagnosis
