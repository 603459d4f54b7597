// SPDX-License-Identifier: Apache-2.0
// How each family fares with spotter's pack: programs differ in their habits, and a rule must hold for all of them.
#include "tables.hpp"
#include "told.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace diagnosis {

namespace {

struct row {
    share alarmed{}, stopped{}, skipped{};  // of the healthy trainings
    share found{}, right{}, second{};       // of the faulty ones; of those found, first or second

    void add(labelled const& each) {
        verdict const& said = each.of->packs[0];
        if (each.label == label::clean) {
            alarmed.add(said.alarmed);
            stopped.add(said.stopped);
            skipped.add(said.skips > 0);
        } else if (counts_as_faulty(each.label)) {
            found.add(said.alarmed);
            if (!said.alarmed) { return; }
            reported_finding const& first = said.first.front();
            right.add(is_symptom(first, each.of->what.broken));
            second.add(is_symptom(first, each.of->what.broken) || is_symptom(second_of(said), each.of->what.broken));
        }
    }
};

// Families that nobody looked at while the table of causes, or a later repair, was made.
constexpr std::string_view left_out[] = {
    "accumulation", "batch_1000", "boosted", "char_transformer",     "contrastive", "cyclic",       "dlib_net",
    "embeddings",   "gan",        "lbfgs",   "matrix_factorisation", "mlp_reg",     "noisy_labels", "per_sample",
    "rnn_clipped"};
bool is_left_out(std::string_view family) {
    return std::find(std::begin(left_out), std::end(left_out), family) != std::end(left_out);
}

// The family with the largest share, or the smallest; with its numbers.
std::string worst(std::map<std::string, row> const& rows, share row::* of, bool largest) {
    std::string name;
    share most;
    for (auto const& [family, each] : rows) {
        share const& it = each.*of;
        if (it.count == 0) { continue; }
        bool const worse = largest ? it.value() > most.value() : it.value() < most.value();
        if (name.empty() || worse) {
            name = family;
            most = it;
        }
    }
    return name.empty() ? "–" : name + " (" + short_text(most) + ")";
}

// Every rule that alarmed in a healthy training, and where.
void print_false_alarms(std::vector<labelled> const& trainings) {
    std::map<std::string, std::map<std::string, std::size_t>> places;
    std::map<std::string, std::size_t> counts;
    for (labelled const& each : trainings) {
        if (each.label != label::clean) { continue; }
        for (reported_finding const& one : each.of->packs[0].rules) {
            ++counts[one.rule];
            ++places[one.rule][each.of->what.family];
        }
    }
    std::printf("\n### False alarms by rule, spotter's pack\n\n%s",
                counts.empty() ? "None.\n" : "| rule | trainings | families |\n|---|---|---|\n");
    for (auto const& [rule, count] : counts) {
        std::printf("| %s | %zu | %s |\n", rule.c_str(), count, counts_text(places[rule]).c_str());
    }
}

}  // namespace

void print_families(std::vector<labelled> const& trainings) {
    std::map<std::string, row> rows;
    row halves[2];
    for (labelled const& each : trainings) {
        rows[each.of->what.family].add(each);
        halves[is_left_out(each.of->what.family) ? 1 : 0].add(each);
    }
    std::printf("\n### Families, spotter's pack\n\n| family | healthy with an alarm | with a decision to stop | with a "
                "skipped update | faults found | first line right |\n|---|---|---|---|---|---|\n");
    for (auto const& [name, it] : rows) {
        std::printf("| %s | %s | %s | %s | %s | %s |\n", name.c_str(), short_text(it.alarmed).c_str(),
                    short_text(it.stopped).c_str(), short_text(it.skipped).c_str(), short_text(it.found).c_str(),
                    short_text(it.right).c_str());
    }
    std::printf("\nWorst: %s alarmed when healthy, %s found, %s right.\n", worst(rows, &row::alarmed, true).c_str(),
                worst(rows, &row::found, false).c_str(), worst(rows, &row::right, false).c_str());
    std::printf(
        "\n### The half that was looked at, and the half left out\n\n| half | healthy with an alarm | faults found "
        "| first line right | first or second |\n|---|---|---|---|---|\n");
    for (std::size_t i = 0; i < 2; ++i) {
        row const& it = halves[i];
        std::printf("| %s | %s | %s | %.3f (%s) | %.3f (%s) |\n", i == 0 ? "looked at" : "left out",
                    short_text(it.alarmed).c_str(), short_text(it.found).c_str(), it.right.value(),
                    short_text(it.right).c_str(), it.second.value(), short_text(it.second).c_str());
    }
    print_false_alarms(trainings);
}

}  // namespace diagnosis
