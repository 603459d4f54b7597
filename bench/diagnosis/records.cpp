// SPDX-License-Identifier: Apache-2.0
#include "records.hpp"

#include "alarms.hpp"
#include "candidates.hpp"
#include "fields.hpp"
#include "record_labels.hpp"
#include "tables.hpp"
#include "told.hpp"

#include <spotter/replay.hpp>
#include <spotter/trial.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace diagnosis {

namespace {

namespace sp = spotter;
namespace sd = spotter::detail;

struct answer {
    recorded_training const* of = nullptr;
    verdict said{};
    std::string trouble{};  // it could not be read, or lacks what a rule asks for

    [[nodiscard]] bool right() const { return said.alarmed && of->accepts(said.first.front()); }
    [[nodiscard]] bool right_or_second() const { return right() || (said.alarmed && of->accepts(second_of(said))); }
    [[nodiscard]] std::string name() const { return of->program + ", " + of->run; }
    [[nodiscard]] std::string first_line() const {
        return said.alarmed ? said.first.front().rule + " (" + said.first.front().reason + ")" : "none";
    }
};

sd::pack_id pack_of(recorded_training const& it) {
    return it.pack == "rl" ? sd::pack_id::rl : it.pack == "boosting" ? sd::pack_id::boosting : sd::pack_id::supervised;
}

void judge(std::string const& path, answer& into) {
    auto const opened = sp::open_trial(path);
    if (!opened) {
        into.trouble = std::string{opened.error().what.view()};
        return;
    }
    pack_notes notes;
    sp::replay_report const report =
        sp::replay(opened.value(), own_pack_rules{pack_of(*into.of), 0, &notes},
                   [&](sp::step_alarm const& found) { note_alarm(found, notes.close, 0, into.said); });
    into.said.seen = notes.seen;
    if (!report.whole) {
        into.trouble = report.trouble ? std::string{report.trouble.what.view()} : "the record lost observations";
    }
}

std::vector<answer> judge_all(record_labels const& labels, unsigned jobs) {
    std::vector<answer> made;
    for (recorded_training const& each : labels.trainings()) { made.push_back({&each}); }
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> running;
    for (unsigned i = 0; i < jobs; ++i) {
        running.emplace_back([&] {
            for (std::size_t at = next++; at < made.size(); at = next++) {
                judge(labels.path_of(*made[at].of), made[at]);
            }
        });
    }
    for (std::thread& each : running) { each.join(); }
    return made;
}

// Of one program, or of all.
struct row {
    share silent{}, stopped{};            // of the healthy ones
    share found{}, right{}, or_second{};  // of the broken ones; of those found

    void add(answer const& it) {
        if (it.of->healthy()) {
            silent.add(!it.said.alarmed);
            stopped.add(it.said.stopped);
            return;
        }
        found.add(it.said.alarmed);
        if (!it.said.alarmed) { return; }
        right.add(it.right());
        or_second.add(it.right_or_second());
    }
    void print(char const* name) const {
        std::printf("| %s | %s | %s | %s | %s | %s |\n", name, short_text(silent).c_str(), short_text(stopped).c_str(),
                    short_text(found).c_str(), short_text(right).c_str(), short_text(or_second).c_str());
    }
};

void print_programs(std::vector<answer> const& all) {
    std::map<std::string, row> programs;
    row sum;
    for (answer const& each : all) {
        programs[each.of->program].add(each);
        sum.add(each);
    }
    std::printf(
        "\n### Programs\n\n| program | healthy, silent | asked to stop | faults found | first line right | first "
        "or second |\n|---|---|---|---|---|---|\n");
    for (auto const& [name, it] : programs) { it.print(name.c_str()); }
    sum.print("all");
}

void print_faults(std::vector<answer> const& all) {
    std::map<std::string, row> faults;
    std::map<std::string, std::map<std::string, std::size_t>> wrong;
    for (answer const& each : all) {
        if (each.of->healthy()) { continue; }
        faults[each.of->fault].add(each);
        if (!each.right()) { ++wrong[each.of->fault][each.first_line()]; }
    }
    std::printf("\n### Faults\n\n| fault | found | first line right | wrong first lines |\n|---|---|---|---|\n");
    for (auto const& [name, it] : faults) {
        std::printf("| %s | %s | %s | %s |\n", name.c_str(), short_text(it.found).c_str(), short_text(it.right).c_str(),
                    counts_text(wrong[name]).c_str());
    }
}

void print_list(char const* title, std::vector<std::string> const& lines) {
    std::printf("\n### %s\n\n%s", title, lines.empty() ? "None.\n" : "");
    for (std::string const& each : lines) { std::printf("- %s\n", each.c_str()); }
}

void print_answers(std::vector<answer> const& all) {
    std::vector<first_line> lines;
    std::vector<std::string> false_alarms, not_whole;
    for (answer const& each : all) {
        if (!each.trouble.empty()) { not_whole.push_back(each.name() + ": " + each.trouble); }
        if (!each.said.alarmed) { continue; }
        if (each.of->healthy()) {
            false_alarms.push_back(each.name() + ": " + each.first_line() + " at " + each.said.mode + " step " +
                                   std::to_string(each.said.step) + (each.said.stopped ? ", asked to stop" : ""));
            continue;
        }
        lines.push_back({&each.said, [&each](reported_finding const& it) { return each.of->accepts(it); }});
    }
    print_programs(all);
    print_faults(all);
    print_causes(lines);
    print_list("False alarms", false_alarms);
    print_list("Records that lack something: their answers may differ from those in the loop", not_whole);
}

std::string line_of(answer const& it) {
    reported_finding const first = it.said.alarmed ? it.said.first.front() : reported_finding{};
    std::string line;
    for (std::string const& each :
         {it.of->program, it.of->run, it.of->fault, it.said.mode, std::to_string(it.said.step), plain(first.rule),
          plain(first.reason), plain(first.tensor), plain(second_of(it.said).rule)}) {
        line += each + ',';
    }
    return line + (it.said.alarmed ? "1," : "0,") + (it.said.stopped ? "1," : "0,") + (it.right() ? "1\n" : "0\n");
}

bool write(std::string const& name, std::vector<answer> const& all) {
    std::ofstream file{name};
    file << "program,run,fault,mode,step,rule,reason,tensor,second,alarmed,stopped,right\n";
    for (answer const& each : all) { file << line_of(each); }
    if (!file.flush()) {
        std::fprintf(stderr, "cannot write %s\n", name.c_str());
        return false;
    }
    return true;
}

}  // namespace

int judge_records(std::string const& folder, unsigned jobs, std::string const& csv) {
    record_labels const labels{folder};
    if (!labels.trouble().empty()) {
        std::fprintf(stderr, "%s\n", labels.trouble().c_str());
        return 2;
    }
    auto const start = std::chrono::steady_clock::now();
    std::vector<answer> const all = judge_all(labels, jobs);
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    if (!csv.empty() && !write(csv, all)) { return 1; }
    std::printf("\n## Recorded trainings\n\n%zu records, judged in %.0f s.\n", all.size(), took.count());
    print_answers(all);
    return 0;
}

}  // namespace diagnosis
