// SPDX-License-Identifier: Apache-2.0
// A training whose gradients explode, run as attempts with planned cures until one is stable. Each attempt is a process
// of this program:
//     study_healing TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS [--quick] [--plain] [--seed=N] [--out=FOLDER]
// For an attempt the supervisor adds [--warmup=STEPS] and [--norm]; --to-end ignores the rules.
// docs/studies/healing.md. Exit code: 0 when the claims of that page hold, 1 when not, 2 when the command line or a
// file is wrong.
#include "../common/arguments.hpp"
#include "../common/results.hpp"
#include "tables.hpp"

#include <algorithm>
#include <filesystem>

namespace {

using namespace healing;

struct extent_of_study {
    recipe how{};
    std::uint64_t seeds = 3;
    std::string warmup = "200";  // steps
    double least_right = 0.6;    // final accuracy of the stable attempt
};

[[nodiscard]] extent_of_study extent(bool quick) {
    if (!quick) { return {}; }
    return {{.width = 4, .batch = 16, .steps = 100, .checks = 1, .judged_by = 500}, 1, "50", 0.25};
}

// The recipe with the settings that the supervisor added to the command line; nothing if one is not a number.
[[nodiscard]] std::optional<recipe> cured(recipe how, studies::arguments const& chosen) {
    how.normalised = std::find(chosen.own.begin(), chosen.own.end(), "--norm") != chosen.own.end();
    if (auto const text = chosen.choice("--warmup")) {
        auto const [end, error] = std::from_chars(text->data(), text->data() + text->size(), how.warmup);
        if (error != std::errc{} || end != text->data() + text->size()) { return std::nullopt; }
    }
    return how;
}

// Runs one attempt, in a process of its own.
[[nodiscard]] int attempt(sp::supervised_attempt const& now, recipe const& how, studies::split const& data,
                          std::uint64_t seed, bool heeds) {
    sp::hook watch{now.run, keep, rules_for(how), sp::options{.existing = sp::existing::refuse}};
    now.note(watch);
    (void)train(how, data, seed, watch, heeds);
    return watch.health().good() ? 0 : 1;
}

[[nodiscard]] chain study(std::vector<std::string> const& command, std::vector<sp::cure> const& cures,
                          std::uint64_t seed, std::string const& out) {
    using namespace std::chrono_literals;
    std::string const folder = fmt::format("{}/heal-{}", out, seed), to_end = fmt::format("{}/whole-{}", out, seed);
    for (std::string const& each : {folder, to_end}) { std::filesystem::remove_all(each); }  // of an earlier study
    chain it{
        seed, sp::supervise(sp::child_process{command, 10min}, cures, {.attempts = 4, .folder = folder}), {}, {}, true};

    std::vector<sp::trial> heeded, whole;
    std::vector<std::string> deaf = command;
    deaf.push_back("--to-end");
    for (sp::past_attempt const& each : it.outcome.attempts) {
        heeded.push_back(studies::record_at(each.launch.run));
        sp::supervised_attempt again = each.asked;
        if (!each.verdict.stable()) {
            again.run = fmt::format("{}/{:02}", to_end, again.number);
            (void)sp::child_process{deaf, 10min}(again);
        }
        whole.push_back(studies::record_at(again.run));
        it.same_numbers = it.same_numbers && begins_alike(heeded.back(), whole.back());
    }
    it.heeded = sp::table_of(heeded);
    it.whole = sp::table_of(whole);
    return it;
}

// Checks the page's claims for one seed and prints those that do not hold.
[[nodiscard]] bool holds(chain const& it, extent_of_study const& within) {
    bool all = true;
    auto const claim = [&](bool is_so, std::string_view what) {
        if (!is_so) { fmt::print("seed {}: it does not hold that {}\n", it.seed, what); }
        all = all && is_so;
    };
    claim(it.outcome.stable(), "an attempt is stable: " + it.outcome.why);
    claim(it.same_numbers, "who is stopped computed the same numbers as who is not");
    if (!it.outcome.stable()) { return false; }
    std::size_t const last = it.outcome.attempts.size() - 1;
    claim(it.outcome.attempts[0].verdict.cause == "exploding_gradient",
          "the gradients of the training as it is explode");
    claim(chain::accuracy(it.heeded, last).value_or(0) > within.least_right, "the stable attempt learns");
    for (std::size_t i = 0; i < last; ++i) {
        claim(chain::accuracy(it.whole, i).value_or(0) < 0.15, "who was stopped would have learnt nothing");
        claim(it.heeded.rows[i].steps < it.whole.rows[i].steps, "steps are saved");
    }
    return all;
}

}  // namespace

int main(int count, char** given) {
    auto const chosen =
        studies::parse(count, given, "healing", studies::fashion::usage, 4, {"--warmup", "--norm", "--to-end"});
    if (!chosen) { return 2; }
    extent_of_study const within = extent(chosen->quick);
    auto const how = cured(within.how, *chosen);
    if (!how) {
        fmt::print(stderr, "study_healing: --warmup= takes a number of steps\n");
        return 2;
    }
    at::set_num_threads(1);
    studies::split const data = studies::fashion::load(chosen->data);
    if (!data.problem().empty()) {
        fmt::print(stderr, "study_healing: {}\n", data.problem());
        return 2;
    }
    if (chosen->plain) {
        sp::hook watch{chosen->out + "/plain", keep, rules_for(*how), sp::options{.existing = sp::existing::replace}};
        fmt::print("parameters {:016x}\n", train(*how, data, chosen->seed, watch, false));
        return 0;
    }
    if (auto const now = sp::supervised_attempt::here()) {
        bool const deaf = std::find(chosen->own.begin(), chosen->own.end(), "--to-end") != chosen->own.end();
        return attempt(now, *how, data, chosen->seed, !deaf);
    }
    std::vector<sp::cure> const cures{{"exploding_gradient", "warm-up", {"--warmup=" + within.warmup}},
                                      {"{exploding_gradient,does_not_learn}", "batch normalisation", {"--norm"}},
                                      {"{died,timed_out}", "again", {}}};
    std::vector<chain> seeds;
    bool all_hold = true;
    for (std::uint64_t i = 0; i < within.seeds; ++i) {
        std::uint64_t const seed = chosen->seed + i;
        std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string()};
        command.insert(command.end(), chosen->data.begin(), chosen->data.end());
        command.push_back(fmt::format("--seed={}", seed));
        if (chosen->quick) { command.push_back("--quick"); }
        seeds.push_back(study(command, cures, seed, chosen->out));
        all_hold = holds(seeds.back(), within) && all_hold;
        fmt::print("{}\n", chain_table(seeds.back()));
        std::fflush(stdout);
    }
    std::string text = summary_table(seeds);
    for (chain const& each : seeds) { text += fmt::format("\nSeed {}:\n\n{}", each.seed, chain_table(each)); }
    std::string const problem = studies::write_results(chosen->out, text);
    if (!problem.empty()) { fmt::print(stderr, "study_healing: {}\n", problem); }
    return all_hold && problem.empty() ? 0 : 1;
}
