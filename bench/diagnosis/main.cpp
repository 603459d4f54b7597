// SPDX-License-Identifier: Apache-2.0
// How well do the packs tell healthy trainings from broken ones, and what is broken? docs/diagnosis.md explains.
//     diagnosis [--quick | --tuning | --seeds A..B] [--only PROGRAM[/FAULT]] [--jobs N] [--csv FILE] [--from FILE]
#include "tables.hpp"
#include "training.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using namespace diagnosis;

struct options {
    std::uint64_t first_seed = 0, last_seed = 9;
    std::string program{}, fault{};  // empty: all
    std::string csv{}, from{};
    unsigned jobs = 0;  // 0: one a processor
    bool quick = false;
};

constexpr char const* usage =
    "usage: diagnosis [--quick | --tuning | --seeds A..B] [--only PROGRAM[/FAULT]] [--jobs N] [--csv FILE] [--from "
    "FILE]\n"
    "  --quick    seed 0 only, no real data        --tuning   seeds 100..109\n"
    "  --only     mlp_reg, mlp_cls, cnn, ac, digits or breast_cancer; a fault by name, or clean\n"
    "  --csv      writes what came of each training  --from     no training: the tables of such a file\n";

template <class Number>
bool parse(std::string_view text, Number& into) {
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    return error == std::errc{} && stop == text.data() + text.size();
}

bool parse(std::string_view argument, std::string_view value, options& into, bool& takes_value) {
    takes_value = true;
    if (argument == "--seeds") {
        std::size_t const dots = value.find("..");
        return dots != value.npos && parse(value.substr(0, dots), into.first_seed) &&
               parse(value.substr(dots + 2), into.last_seed) && into.first_seed <= into.last_seed;
    }
    if (argument == "--only") {
        std::size_t const slash = value.find('/');
        into.program = std::string{value.substr(0, slash)};
        into.fault = slash == value.npos ? std::string{} : std::string{value.substr(slash + 1)};
        return std::any_of(programs.begin(), programs.end(),
                           [&](program_info const& each) { return each.name == into.program; });
    }
    if (argument == "--jobs") { return parse(value, into.jobs); }
    if (argument == "--csv") { return !(into.csv = std::string{value}).empty(); }
    if (argument == "--from") { return !(into.from = std::string{value}).empty(); }
    takes_value = false;
    if (argument == "--quick") {
        into.quick = true;
        into.last_seed = into.first_seed = 0;
        return true;
    }
    if (argument == "--tuning") {
        into.first_seed = 100;
        into.last_seed = 109;
        return true;
    }
    return false;
}

std::vector<assignment> assignments(options const& wanted) {
    std::vector<assignment> made;
    for (std::uint64_t seed = wanted.first_seed; seed <= wanted.last_seed; ++seed) {
        for (program_info const& program : programs) {
            if (wanted.program.empty() ? wanted.quick && program.real_data : wanted.program != program.name) {
                continue;
            }
            for (std::size_t v = 0; v < variant_names.size(); ++v) {
                // Healthy ones are always there when faults are asked for: labels are held against them.
                made.push_back({program.letter, fault::none, static_cast<variant>(v), seed});
            }
            for (fault_info const& each : faults) {
                bool const here = each.programs.find(program.letter) != each.programs.npos;
                if (here && (wanted.fault.empty() || wanted.fault == each.name)) {
                    made.push_back({program.letter, each.what, variant::base, seed});
                }
            }
        }
    }
    return made;
}

// Trains them all, `jobs` at a time; the outcomes in the order of the assignments.
std::vector<outcome> train_all(std::vector<assignment> const& list, unsigned jobs) {
    std::vector<std::optional<outcome>> results(list.size());
    std::atomic<std::size_t> next = 0, done = 0;
    auto const start = std::chrono::steady_clock::now();
    auto const work = [&] {
        for (std::size_t i = next++; i < list.size(); i = next++) {
            results[i] = train(list[i]);
            std::size_t const count = ++done;
            if (count % 50 == 0 || count == list.size()) {
                double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
                std::fprintf(stderr, "%zu of %zu trainings, %.0f s\n", count, list.size(), seconds);
            }
        }
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < jobs; ++i) { others.emplace_back(work); }
    work();
    for (std::thread& each : others) { each.join(); }
    std::vector<outcome> made;
    for (std::optional<outcome>& each : results) {
        if (each) { made.push_back(std::move(*each)); }
    }
    return made;
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
    std::vector<outcome> all;
    if (!wanted.from.empty()) {
        all = read_csv(wanted.from);
    } else {
        unsigned const jobs = wanted.jobs > 0 ? wanted.jobs : (std::max)(1U, std::thread::hardware_concurrency());
        all = train_all(assignments(wanted), jobs);
    }
    if (all.empty()) {
        std::fputs("no training to tell of: is the file there, or the folder SPOTTER_DATA?\n", stderr);
        return 1;
    }
    if (!wanted.csv.empty()) {
        std::ofstream file{wanted.csv};
        file << csv_header();
        for (outcome const& each : all) { file << csv_lines(each); }
        if (!file.flush()) {
            std::fprintf(stderr, "cannot write %s\n", wanted.csv.c_str());
            return 1;
        }
    }
    print_tables(all);
    return 0;
}
