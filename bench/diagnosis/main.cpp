// SPDX-License-Identifier: Apache-2.0
// How well do the packs tell healthy trainings from broken ones, and what is broken?
// docs/internals/diagnosis.md explains.
//     diagnosis [--quick | --tuning | --seeds A..B] [--only FAMILY[/FAULT]]... [--jobs N] [--csv FILE] [--from FILE]
//     [--list] [--records FOLDER]
#include "cure_tables.hpp"
#include "cures.hpp"
#include "family.hpp"
#include "jobs.hpp"
#include "limits.hpp"
#include "records.hpp"
#include "tables.hpp"
#include "watches.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace diagnosis;

struct options {
    std::uint64_t first_seed = 0, last_seed = 9;
    std::vector<std::pair<std::string, std::string>> only{};  // family and fault; empty: all
    std::string csv{}, from{}, tried{}, records{};
    unsigned jobs = 0;  // 0: one a processor
    bool quick = false, list = false, healthy = false, leave_out = false, cures = false;
};

constexpr std::uint64_t first_tuning_seed = 100;
constexpr char const* usage =
    "usage: diagnosis [--quick | --tuning | --seeds A..B] [--only FAMILY[/FAULT]]... [--jobs N] [--csv FILE] [--from "
    "FILE] [--list] [--records FOLDER]\n"
    "  --quick    seed 0, of each family one healthy and one faulty training    --tuning   seeds 100..109\n"
    "  --only     a family by name; one of its faults by name, or clean\n"
    "  --csv      writes what came of each training  --from     no training: the tables of such a file\n"
    "  --list     the families that were built\n"
    "  --healthy  healthy trainings alone           --alone    the rules of the program's pack look on, each for "
    "itself\n"
    "  --ours     without sagemaker's pack          --tell     prints what the program's own pack finds, notes too\n"
    "  --records  no training: replays the records that FOLDER/labels.csv names, and counts what the packs answer\n"
    "  --cures    trains the programs that follow cures: left alone, with each cure, and with all\n"
    "  --leave-out  chooses the limits of the diagnosis for each family without it, on as many seeds from 100 on, and\n"
    "             judges it with them; --tried FILE writes what came of these seeds, --from FILE takes it from there\n";

template <class Number>
bool parse(std::string_view text, Number& into) {
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    return error == std::errc{} && stop == text.data() + text.size();
}

bool parse_only(std::string_view value, options& into) {
    std::size_t const slash = value.find('/');
    std::string_view const fault = slash == value.npos ? std::string_view{} : value.substr(slash + 1);
    into.only.emplace_back(value.substr(0, slash), fault);
    bool const known =
        fault.empty() || fault == "clean" ||
        std::any_of(faults.begin(), faults.end(), [&](fault_info const& each) { return each.name == fault; });
    return known && family_named(value.substr(0, slash)) != nullptr;
}

bool parse(std::string_view argument, std::string_view value, options& into, bool& takes_value) {
    takes_value = true;
    if (argument == "--seeds") {
        std::size_t const dots = value.find("..");
        return dots != value.npos && parse(value.substr(0, dots), into.first_seed) &&
               parse(value.substr(dots + 2), into.last_seed) && into.first_seed <= into.last_seed;
    }
    if (argument == "--only") { return parse_only(value, into); }
    if (argument == "--jobs") { return parse(value, into.jobs); }
    if (argument == "--csv") { return !(into.csv = std::string{value}).empty(); }
    if (argument == "--tried") { return !(into.tried = std::string{value}).empty(); }
    if (argument == "--records") { return !(into.records = std::string{value}).empty(); }
    if (argument == "--from") { return !(into.from = std::string{value}).empty(); }
    takes_value = false;
    if (argument == "--quick") {
        into.quick = true;
        into.last_seed = into.first_seed = 0;
        return true;
    }
    if (argument == "--tuning") {
        into.first_seed = first_tuning_seed;
        into.last_seed = first_tuning_seed + 9;
        return true;
    }
    if (argument == "--ours") { return !(watches::baselines = false); }
    if (argument == "--alone") { return watches::alone = true; }
    if (argument == "--healthy") { return into.healthy = true; }
    if (argument == "--tell") { return watches::tells = healer::tells = true; }
    if (argument == "--cures") { return into.cures = true; }
    if (argument == "--leave-out") { return into.leave_out = true; }
    return into.list = argument == "--list";
}

bool is_wanted(options const& wanted, family const& of, std::string_view fault) {
    if (wanted.only.empty()) {
        bool const first = fault.empty() || fault == info_of(of.faults[0]).name;
        return !wanted.quick || (first && !of.real_data);
    }
    return std::any_of(wanted.only.begin(), wanted.only.end(), [&](auto const& each) {
        return each.first == of.name && (each.second.empty() || fault.empty() || each.second == fault);
    });
}

// Healthy trainings are always there when faults are asked for: labels are held against them.
std::vector<assignment> assignments(options const& wanted) {
    std::vector<assignment> made;
    for (std::uint64_t seed = wanted.first_seed; seed <= wanted.last_seed; ++seed) {
        for (family const& each : families()) {
            if (!is_wanted(wanted, each, {}) || (each.there != nullptr && !each.there())) { continue; }
            std::string const name{each.name};
            std::size_t const variants = wanted.quick && wanted.only.empty() ? 1 : each.variants.size();
            for (std::size_t v = 0; v < variants; ++v) { made.push_back({name, fault::none, v, seed}); }
            for (fault const broken : each.faults) {
                if (!wanted.healthy && is_wanted(wanted, each, info_of(broken).name)) {
                    made.push_back({name, broken, 0, seed});
                }
            }
        }
    }
    return made;
}

// Chooses limits for each family from the other families' results.
void choose_limits(std::vector<outcome> const& tried) {
    std::vector<diagnosis_limits> chosen;
    for (family const& each : families()) {
        chosen.push_back(chosen_without(each.name, tried));
        watches::limits_of[std::string{each.name}] = chosen.back();
    }
    print_chosen(chosen);
}

bool write_csv(std::string const& name, std::vector<outcome> const& all) {
    std::ofstream file{name};
    file << csv_header();
    for (outcome const& each : all) { file << csv_lines(each); }
    if (!file.flush()) {
        std::fprintf(stderr, "cannot write %s\n", name.c_str());
        return false;
    }
    return true;
}

std::vector<outcome> read_csv_file(std::string const& name) {
    std::ifstream file{name};
    return read_csv(file);
}

// The outcomes, with limits that were chosen on the seeds of tuning.
std::vector<outcome> leave_out(options const& wanted, unsigned jobs) {
    options tuning = wanted;
    tuning.first_seed = first_tuning_seed;
    tuning.last_seed = first_tuning_seed + wanted.last_seed - wanted.first_seed;
    watches::tries_limits = true;
    std::vector<outcome> const tried =
        wanted.from.empty() ? train_all(assignments(tuning), jobs) : read_csv_file(wanted.from);
    watches::tries_limits = false;
    if (!wanted.tried.empty() && !write_csv(wanted.tried, tried)) { return {}; }
    choose_limits(tried);
    return train_all(assignments(wanted), jobs);
}

// Of the families that follow cures.
int compare_cures(options wanted, unsigned jobs) {
    if (wanted.only.empty()) {
        for (family const& each : families()) {
            if (each.follows_cures) { wanted.only.emplace_back(each.name, ""); }
        }
    }
    watches::baselines = false;
    std::vector<assignment> const list = assignments(wanted);
    std::vector<std::vector<outcome>> by_cure;
    for (std::size_t i = 0; i < cure_names.size(); ++i) {
        healer::choice = static_cast<cured_by>(i);
        by_cure.push_back(train_all(list, jobs));
        if (by_cure.back().size() != list.size()) { return 1; }
        if (!wanted.csv.empty() && !write_csv(wanted.csv + "." + std::string{cure_names[i]}, by_cure.back())) {
            return 1;
        }
    }
    print_cures(by_cure);
    return 0;
}

void print_list() {
    for (family const& each : families()) {
        std::printf("%s (%s): %s\n  healthy:", std::string{each.name}.c_str(),
                    each.library.empty() ? "loops of this bench" : std::string{each.library}.c_str(),
                    std::string{each.habit}.c_str());
        for (std::string_view const name : each.variants) { std::printf(" %s;", std::string{name}.c_str()); }
        std::printf("\n  faults:");
        for (fault const broken : each.faults) { std::printf(" %s;", std::string{info_of(broken).name}.c_str()); }
        std::printf("\n");
    }
}

}  // namespace

int main(int count, char** arguments) {
    options wanted;
    if (char const* const quick = std::getenv("SPOTTER_BENCH_QUICK");
        quick != nullptr && *quick != '\0' && *quick != '0') {
        wanted.quick = true;
        wanted.last_seed = 0;
    }
    for (int i = 1; i < count; ++i) {
        bool takes_value = false;
        std::string_view const value = i + 1 < count ? arguments[i + 1] : "";
        if (!parse(arguments[i], value, wanted, takes_value)) {
            std::fputs(usage, stderr);
            return 2;
        }
        i += takes_value ? 1 : 0;
    }
    if (wanted.list) {
        print_list();
        return 0;
    }
    unsigned const jobs = wanted.jobs > 0 ? wanted.jobs : (std::max)(1U, std::thread::hardware_concurrency());
    if (!wanted.records.empty()) { return judge_records(wanted.records, jobs, wanted.csv); }
    if (wanted.cures) { return compare_cures(wanted, jobs); }
    std::vector<outcome> const all = wanted.leave_out       ? leave_out(wanted, jobs)
                                     : !wanted.from.empty() ? read_csv_file(wanted.from)
                                                            : train_all(assignments(wanted), jobs);
    if (all.empty()) {
        std::fputs("no training to tell of: is the file there and of this version, or the folder SPOTTER_DATA?\n",
                   stderr);
        return 1;
    }
    if (!wanted.csv.empty() && !write_csv(wanted.csv, all)) { return 1; }
    print_tables(all);
    return 0;
}
