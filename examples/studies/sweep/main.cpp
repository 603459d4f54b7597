// SPDX-License-Identifier: Apache-2.0
// A sweep of sixteen configurations, each a process. `spotter watch` ends those that diverge or are behind; a second
// sweep runs all to their end:
//     study_sweep TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS --tool=SPOTTER [--quick] [--plain] [--seed=N]
//     [--out=FOLDER]
// docs/studies/sweep.md. Exit code: 0 when the claims of that page hold, 1 when not, 2 when the command line or a file
// is wrong.
#include "../common/arguments.hpp"
#include "../common/record.hpp"
#include "../common/results.hpp"
#include "tables.hpp"
#include "watching.hpp"

namespace {

using namespace sweep;

struct extent_of_study {
    budget each{};
    std::size_t configurations = 16;
    std::uint64_t seeds = 3;
};

[[nodiscard]] sweep_results read(std::string const& folder, std::vector<configuration> const& tried) {
    std::vector<sp::trial> runs;
    for (std::size_t i = 0; i < tried.size(); ++i) {
        runs.push_back(studies::record_at(fmt::format("{}/{:02}", folder, i)));
    }
    return {sp::table_of(runs), tried};
}

// Trains the configurations from `first` on, one after the other. False where a process failed.
[[nodiscard]] bool train_all(std::size_t first, std::size_t end, std::vector<configuration> const& tried,
                             budget const& within, studies::split const& data, std::uint64_t seed,
                             std::string const& folder, bool heeds) {
    for (std::size_t i = first; i < end; ++i) {
        std::string const path = fmt::format("{}/{:02}", folder, i);
        fmt::print("{}\n", path);
        std::fflush(stdout);
        if (!train_apart(tried[i], within, data, seed, path, heeds)) {
            fmt::print(stderr, "study_sweep: the training of {} ended badly\n", path);
            return false;
        }
    }
    return true;
}

[[nodiscard]] std::optional<both_ways> study(extent_of_study const& how, studies::split const& data, std::uint64_t seed,
                                             std::string const& tool, std::string const& out) {
    std::vector<configuration> const tried = draw(how.configurations, seed);
    std::string const whole = fmt::format("{}/whole-{}", out, seed), watched = fmt::format("{}/watched-{}", out, seed);
    std::filesystem::remove_all(watched);  // runs of an earlier study would be watched too
    if (!train_all(0, tried.size(), tried, how.each, data, seed, whole, false)) { return std::nullopt; }

    // The known configuration runs first and to its end; the others are compared with it.
    if (!train_all(0, 1, tried, how.each, data, seed, watched, false)) { return std::nullopt; }
    std::string const rules = fmt::format("{}/rules-{}.json", out, seed);
    std::ofstream{rules} << rules_after(studies::record_at(watched + "/00"));
    watcher beside{tool, watched, rules, fmt::format("{}/watch-{}.jsonl", out, seed)};
    if (!train_all(1, tried.size(), tried, how.each, data, seed, watched, true)) { return std::nullopt; }
    if (!beside.watches()) {
        fmt::print(stderr, "study_sweep: {} watch {} --rules {} ended by itself\n", tool, watched, rules);
        return std::nullopt;
    }
    both_ways both{seed, read(whole, tried), read(watched, tried)};
    std::ofstream{fmt::format("{}/sweep-{}.csv", out, seed)} << sp::to_csv(both.watched.table);
    return both;
}

// Checks the page's claims for one seed and prints those that do not hold.
[[nodiscard]] bool holds(both_ways const& it, double least_saved) {
    bool all = true;
    auto const claim = [&](bool is_so, std::string const& what) {
        if (!is_so) { fmt::print("seed {}: it does not hold that {}\n", it.seed, what); }
        all = all && is_so;
    };
    std::size_t const best = it.whole.best();
    claim(it.watched.best() == best, "the best configuration is the same");
    claim(it.watched.loss(best) == it.whole.loss(best), "being watched changes no number");
    claim(it.saved_steps() > least_saved, fmt::format("{:.0f} % of the steps are saved", 100 * least_saved));
    for (std::size_t i = 1; i < it.watched.tried.size(); ++i) {
        sp::runs_row const& row = it.watched.table.rows[i];
        claim(!it.watched.stopped(i) || (row.stop_asked_by == "stop_file" && !row.why.empty()),
              fmt::format("{} says why it was stopped", row.name));
    }
    return all;
}

}  // namespace

int main(int count, char** given) {
    auto const usage = std::string{studies::fashion::usage} + "--tool=SPOTTER ";
    auto const chosen = studies::parse(count, given, "sweep", usage, 4, {"--tool"});
    if (!chosen) { return 2; }
    at::set_num_threads(1);  // before any computation: fork needs a single-threaded process
    studies::split const data = studies::fashion::load(chosen->data);
    if (!data.problem().empty()) {
        fmt::print(stderr, "study_sweep: {}\n", data.problem());
        return 2;
    }
    extent_of_study how;
    if (chosen->quick) { how = {{5'120, 6, 500}, 6, 1}; }
    if (chosen->plain) {
        sp::hook watch{chosen->out + "/plain", keep, sp::options{.existing = sp::existing::replace}};
        budget const little{1'280, 2, 200};
        fmt::print("parameters {:016x}\n", train({}, little, data, chosen->seed, watch, false));
        return 0;
    }
    std::string const tool = chosen->choice("--tool").value_or("");
    if (::access(tool.c_str(), X_OK) != 0) {
        fmt::print(stderr,
                   "study_sweep: --tool={}: where is the program spotter? It is built with CLI11 and nlohmann_json "
                   "(docs/tools.md)\n",
                   tool);
        return 2;
    }
    std::vector<both_ways> seeds;
    bool all_hold = true;
    for (std::uint64_t i = 0; i < how.seeds; ++i) {
        auto const one = study(how, data, chosen->seed + i, tool, chosen->out);
        if (!one) { return 1; }
        seeds.push_back(*one);
        all_hold = holds(*one, chosen->quick ? 0.0 : 0.4) && all_hold;
        fmt::print("\n{}\n{}\n", summary_table({*one}), sweep_table(*one));
    }
    std::string text = summary_table(seeds);
    for (both_ways const& each : seeds) { text += fmt::format("\nSeed {}:\n\n{}", each.seed, sweep_table(each)); }
    std::string const problem = studies::write_results(chosen->out, text);
    if (!problem.empty()) { fmt::print(stderr, "study_sweep: {}\n", problem); }
    return all_hold && problem.empty() ? 0 : 1;
}
