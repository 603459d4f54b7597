// SPDX-License-Identifier: Apache-2.0
// The tables of docs/internals/diagnosis.md.
#include "tables.hpp"

#include "family.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace diagnosis {

namespace {

using list = std::vector<labelled>;

std::string name_of(assignment const& it) {
    if (it.broken != fault::none) { return it.family + ", " + std::string{info_of(it.broken).name}; }
    family const* const of = family_named(it.family);
    bool const named = of != nullptr && it.variant < of->variants.size();
    return it.family + ", clean, " + (named ? std::string{of->variants[it.variant]} : std::to_string(it.variant));
}
std::string rule_and_reason(reported_finding const& it) { return it.rule + " (" + it.reason + ")"; }
double steps_after_onset(outcome const& of, verdict const& said) {
    return static_cast<double>(said.step) - static_cast<double>(of.planted_at);
}
bool located(outcome const& of, verdict const& said) {
    return said.bad_value == of.planted && said.bad_value_at == of.planted_at;
}
std::string steps_text(std::vector<double> const& steps) {
    if (steps.empty()) { return "–"; }
    char made[40];
    std::snprintf(made, sizeof made, "%.0f, %.0f", median(steps), quantile(steps, 0.9));
    return made;
}

// What one pack achieved on some of the trainings.
struct score {
    share recall, false_positives, right, located;
    std::vector<double> steps;
    double saved = 0;

    score(list const& trainings, std::size_t pack, std::function<bool(outcome const&)> const& wanted) {
        for (labelled const& each : trainings) {
            outcome const& it = *each.of;
            verdict const& said = it.packs[pack];
            if (!wanted(it)) { continue; }
            if (each.label == label::clean) { false_positives.add(said.alarmed); }
            if (it.what.broken == fault::not_a_number) { located.add(diagnosis::located(it, said)); }
            if (!counts_as_faulty(each.label)) { continue; }
            recall.add(said.alarmed);
            if (!said.alarmed) { continue; }
            right.add(is_symptom(said.first.front(), it.what.broken));
            steps.push_back(steps_after_onset(it, said));
            saved += 1.0 - static_cast<double>(said.step) / (std::max)(static_cast<double>(it.steps), 1.0);
        }
        saved /= (std::max)(static_cast<double>(recall.count), 1.0);
    }
};

void print_labels(list const& trainings) {
    std::map<std::string, std::map<label, std::size_t>> counts;
    for (labelled const& each : trainings) { ++counts[each.of->what.family][each.label]; }
    std::printf("\n### Trainings\n\n| family | manifest | structural only | latent | clean | failed clean |\n"
                "|---|---|---|---|---|---|\n");
    for (auto& [name, of] : counts) {
        std::printf("| %s | %zu | %zu | %zu | %zu | %zu |\n", name.c_str(), of[label::manifest], of[label::structural],
                    of[label::latent], of[label::clean], of[label::failed]);
    }
}

void print_packs(list const& trainings) {
    std::printf(
        "\n### Packs\n\n| pack | recall | false-positive rate | first alarm is the right symptom | NaN located | "
        "steps to detection, median and p90 | compute saved |\n|---|---|---|---|---|---|---|\n");
    for (std::size_t p = 0; p < pack_names.size(); ++p) {
        score const it{trainings, p, [](outcome const&) { return true; }};
        std::printf("| %s | %s | %s | %s | %s | %s | %.3f |\n", std::string{pack_names[p]}.c_str(),
                    it.recall.text().c_str(), it.false_positives.text().c_str(), it.right.text().c_str(),
                    it.located.text().c_str(), steps_text(it.steps).c_str(), it.saved);
    }
    score const ours{trainings, 0, [](outcome const&) { return true; }};
    auto const line = [](char const* what, share const& it, bool met, char const* wanted) {
        std::printf("%s: %.3f, target %s: %s\n", what, it.value(), wanted, met || it.count == 0 ? "met" : "short");
    };
    std::printf("\n");
    line("- recall", ours.recall, ours.recall.value() >= 0.95, "0.95 at least");
    line("- false-positive rate", ours.false_positives, ours.false_positives.value() <= 0.02, "0.02 at most");
    line("- right symptom", ours.right, ours.right.value() >= 0.80, "0.80 at least");
    line("- NaN located", ours.located, ours.located.hits == ours.located.count, "all");
}

void print_faults(list const& trainings) {
    std::printf(
        "\n### Faults\n\n| fault | counted | latent | recall | right symptom | steps, median and p90 | recall of "
        "sagemaker | at 500 | wrong first lines |\n|---|---|---|---|---|---|---|---|---|\n");
    for (fault_info const& each : faults) {
        auto const here = [&](outcome const& one) { return one.what.broken == each.what; };
        std::size_t latent = 0;
        std::map<std::string, std::size_t> wrong;
        for (labelled const& one : trainings) {
            if (!here(*one.of)) { continue; }
            latent += one.label == label::latent ? 1 : 0;
            if (!counts_as_faulty(one.label)) { continue; }
            verdict const& said = one.of->packs[0];
            if (said.alarmed && is_symptom(said.first.front(), each.what)) { continue; }
            ++wrong[said.alarmed ? rule_and_reason(said.first.front()) : "none"];
        }
        score const ours{trainings, 0, here}, theirs{trainings, 1, here}, seldom{trainings, 2, here};
        if (ours.recall.count + latent == 0) { continue; }
        std::printf("| %s | %zu | %zu | %s | %s | %s | %.2f | %.2f | %s |\n", std::string{each.name}.c_str(),
                    ours.recall.count, latent, ours.recall.text().c_str(), ours.right.text().c_str(),
                    steps_text(ours.steps).c_str(), theirs.recall.value(), seldom.recall.value(),
                    counts_text(wrong).c_str());
    }
}

// Every rule that alarmed at all in a training with a label: in how many, and at which steps first.
void print_rules(list const& trainings, label wanted, char const* title) {
    std::map<std::string, std::vector<double>> steps;
    for (labelled const& each : trainings) {
        if (each.label != wanted) { continue; }
        for (reported_finding const& one : each.of->packs[0].rules) {
            steps[rule_and_reason(one)].push_back(static_cast<double>(one.step));
        }
    }
    std::printf("\n### %s\n\n%s", title,
                steps.empty() ? "None.\n"
                              : "| rule | trainings | first at step, median and p90 |\n"
                                "|---|---|---|\n");
    for (auto const& [rule, at] : steps) {
        std::printf("| %s | %zu | %s |\n", rule.c_str(), at.size(), steps_text(at).c_str());
    }
}

// Of each rule the chance of a false alarm in a run: in how many clean trainings it has a finding of warning or above,
// by itself and as its pack tells it.
void print_rules_alone(list const& trainings) {
    std::map<std::string, std::pair<share, share>> rules;
    std::size_t clean = 0;
    for (labelled const& each : trainings) {
        if (each.label != label::clean) { continue; }
        ++clean;
        for (reported_finding const& one : each.of->packs[each_rule_alone].rules) { ++rules[one.rule].first.hits; }
        for (reported_finding const& one : each.of->packs[0].rules) { ++rules[one.rule].second.hits; }
    }
    if (std::all_of(rules.begin(), rules.end(), [](auto const& each) { return each.second.first.hits == 0; })) {
        return;  // they did not look on
    }
    std::printf("\n### Rules that alarmed in clean trainings\n\n| rule | by itself | in its pack |\n|---|---|---|\n");
    for (auto& [rule, of] : rules) {
        of.first.count = of.second.count = clean;
        std::printf("| `%s` | %s | %s |\n", rule.c_str(), of.first.text().c_str(), of.second.text().c_str());
    }
}

// Alarms of trainings with a label: which rule in how many, and where.
void print_alarms(list const& trainings, label wanted, std::size_t pack, char const* title) {
    std::map<std::string, std::map<std::string, std::size_t>> places;
    std::map<std::string, std::size_t> counts;
    for (labelled const& each : trainings) {
        verdict const& said = each.of->packs[pack];
        if (each.label != wanted || !said.alarmed) { continue; }
        std::string const what = rule_and_reason(said.first.front());
        ++counts[what];
        ++places[what][name_of(each.of->what)];
    }
    std::printf("\n### %s, %s\n\n", title, std::string{pack_names[pack]}.c_str());
    if (counts.empty()) {
        std::printf("None.\n");
        return;
    }
    std::printf("| first alarm | trainings | where |\n|---|---|---|\n");
    for (auto const& [what, count] : counts) {
        std::printf("| %s | %zu | %s |\n", what.c_str(), count, counts_text(places[what]).c_str());
    }
}

void print_lists(list const& trainings) {
    std::map<std::string, std::size_t> missed, early, failed;
    std::map<std::string, std::set<std::string>> not_judged;
    for (labelled const& each : trainings) {
        outcome const& it = *each.of;
        if (counts_as_faulty(each.label) && !it.packs[0].alarmed) { ++missed[name_of(it.what)]; }
        for (reported_finding const& one : it.packs[0].too_early) {
            ++early[it.what.family + ", seed " + std::to_string(it.what.seed) + ": " + rule_and_reason(one)];
        }
        if (each.label == label::failed) {
            ++failed[name_of(it.what) + ", seed " + std::to_string(it.what.seed) +
                     (it.packs[0].alarmed ? " (told)" : "")];
        }
        if (it.what.broken != fault::none) { continue; }
        for (std::string const& rule : it.packs[0].not_judged) { not_judged[it.what.family].insert(rule); }
    }
    auto const print = [](char const* title, std::map<std::string, std::size_t> const& lines) {
        std::printf("\n### %s\n\n%s", title, lines.empty() ? "None.\n" : "");
        for (auto const& [line, count] : lines) { std::printf("- %s: %zu\n", line.c_str(), count); }
    };
    print("Missed by spotter's pack", missed);
    print("Alarms before the NaN was planted", early);
    print("Failed clean, not counted", failed);
    std::printf("\n### Rules of spotter's pack that could not run in a healthy training\n\n");
    for (auto const& [name, rules] : not_judged) {
        std::printf("- %s:", name.c_str());
        for (std::string const& each : rules) { std::printf(" %s;", each.c_str()); }
        std::printf("\n");
    }
}

std::vector<first_line> first_lines(list const& trainings) {
    std::vector<first_line> made;
    for (labelled const& each : trainings) {
        verdict const& said = each.of->packs[own_pack];
        if (!counts_as_faulty(each.label) || !said.alarmed) { continue; }
        fault const broken = each.of->what.broken;
        made.push_back({&said, [broken](reported_finding const& it) { return is_symptom(it, broken); }});
    }
    return made;
}

void print_group(std::vector<outcome> const& all, bool real, char const* title) {
    list trainings;
    for (outcome const& each : all) {
        family const* const of = family_named(each.what.family);
        if (real == (of != nullptr && of->real_data)) { trainings.push_back({&each, label_of(each, all)}); }
    }
    if (trainings.empty()) {
        std::printf("\n## %s\n\nNone: not asked for, or the folder SPOTTER_DATA has no such data.\n", title);
        return;
    }
    double seconds = 0;
    for (labelled const& each : trainings) { seconds += each.of->seconds; }
    std::printf("\n## %s\n\n%zu trainings, %.0f s of computing.\n", title, trainings.size(), seconds);
    print_labels(trainings);
    print_packs(trainings);
    print_families(trainings);
    print_faults(trainings);
    print_causes(first_lines(trainings));
    for (std::size_t p = 0; p < pack_names.size(); ++p) {
        print_alarms(trainings, label::clean, p, "False alarms in clean trainings");
    }
    print_rules(trainings, label::clean, "All rules of spotter's pack that alarmed in clean trainings");
    print_rules_alone(trainings);
    print_alarms(trainings, label::latent, 0, "Alarms in latent trainings");
    print_lists(trainings);
}

}  // namespace

void print_tables(std::vector<outcome> const& all) {
    print_group(all, false, "Generated data");
    print_group(all, true, "Real data");
}

}  // namespace diagnosis
