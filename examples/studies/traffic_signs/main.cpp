// SPDX-License-Identifier: Apache-2.0
// A ResNet18 learns to read traffic signs by an ordinary recipe; spotter reports what is wrong with it, and the study
// compares the cures:
//     study_traffic_signs TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS [--quick] [--plain] [--seed=N]
//     [--out=FOLDER]
// docs/studies/traffic_signs.md. Exit code: 0 when the claims of that page hold, 1 when not, 2 when the command line or
// a file is wrong.
#include "../common/arguments.hpp"
#include "../common/explaining.hpp"
#include "../common/record.hpp"
#include "../common/results.hpp"

#include "tables.hpp"

#include <spotter/workbench/saliency.hpp>

#include <limits>

namespace {

using namespace traffic;

// The size of a study.
struct extent_of_study {
    recipe original{.mirrored = true};
    std::uint64_t cured_steps = 1040;  // for the recipes that are compared: half as many
    std::uint64_t seeds = 3;
    std::int64_t measured_width = 8;  // of the net whose overhead is measured
    std::vector<std::uint64_t> intervals{1, 10, 100, 500};
    std::uint64_t chunk = 20;  // steps of one measurement
};

// The pictures of signs with a mirror image, for the quick study.
studies::pictures only_mirror_pairs(studies::pictures const& from) {
    torch::Tensor wanted = torch::zeros_like(from.labels, torch::kBool);
    for (auto const& [a, b] : mirror_pairs) { wanted |= from.labels.eq(a) | from.labels.eq(b); }
    return from.at(wanted.nonzero().flatten());
}

struct training {
    outcome ended{};
    sp::trial run;
};
training trained(recipe const& how, studies::split const& data, std::uint64_t seed, std::string const& folder) {
    fmt::print("{}\n", folder);
    std::fflush(stdout);
    sp::hook watch{folder, keep, rules, sp::options{.existing = sp::existing::replace}};
    outcome ended = train(how, data, seed, watch);
    std::string const path{watch.path()};
    watch.finish();
    if (!watch.health().good()) { fmt::print("spotter: {}\n", watch.health()); }
    fmt::print("    {} steps, {:.1f} % right\n", ended.steps, 100 * ended.accuracy);
    return {std::move(ended), studies::record_at(path)};
}

// Records which parts of these pictures explain the net's answers; returns the largest unexplained share of a score.
double explained(studies::resnet& net, studies::pictures const& shown, std::string const& folder) {
    sp::hook watch{folder, sp::plan{sp::collection{"all", "*", sp::always{}, sp::payload}},
                   sp::options{.existing = sp::existing::replace}};
    watch.scalar("class_names", studies::traffic_signs::names_text());
    studies::explain(net, shown, watch, 0);
    std::string const path{watch.path()};
    watch.finish();
    return sp::full_gradients(studies::record_at(path), sp::predict(0)).value().incompleteness();
}

// One picture of each sign with a mirror image, and of four without.
studies::pictures some_of(studies::pictures const& from) {
    std::vector<std::int64_t> chosen;
    for (std::int64_t const wanted : {33, 34, 38, 39, 19, 20, 36, 37, 1, 14, 17, 25}) {
        torch::Tensor const all = from.labels.eq(wanted).nonzero().flatten();
        if (all.size(0) > 0) { chosen.push_back(all[all.size(0) / 2].item<std::int64_t>()); }
    }
    return from.at(torch::tensor(chosen));
}

seed_results study(extent_of_study const& how, studies::split const& data, std::uint64_t seed, std::string const& out) {
    auto const folder = [&](char const* name) { return fmt::format("{}/{}-{}", out, name, seed); };
    seed_results all{.seed = seed};
    recipe next = how.original;
    training const original = trained(next, data, seed, folder("original"));
    all.whole = original.ended;
    all.endings = {end_by(original.run, sp::loss_not_decreasing{}, all.whole),
                   end_by(original.run, sp::overtraining{}, all.whole),
                   end_by(original.run, sp::overtraining::sagemaker_defaults(), all.whole),
                   end_by(original.run, no_longer_learning, all.whole)};
    torch::Tensor const shown = classes_shown(original.run);
    torch::Tensor const rare =
        shown.masked_fill(shown.eq(0), std::numeric_limits<std::int64_t>::max()).argsort().slice(0, 0, 10);
    all.says = lines_of(original.run);

    next.heeds = true;
    all.heeded = trained(next, data, seed, folder("heeded")).ended;

    // The same recipe for half as long, with a falling learning rate, so that the last step is representative; then
    // with each fault repaired.
    next = {.width = how.original.width, .steps = how.cured_steps, .mirrored = true, .decays = true};
    training const mirrored = trained(next, data, seed, folder("mirrored"));
    next.mirrored = false;
    training const unmirrored = trained(next, data, seed, folder("unmirrored"));
    next.balanced = true;
    training const balanced = trained(next, data, seed, folder("balanced"));
    for (training const* each : {&original, &mirrored, &unmirrored, &balanced}) {
        torch::Tensor const confusion = confusion_of(each->run);
        all.recipes.push_back(
            {each->ended.steps, each->ended.accuracy, share_right(confusion, rare), mirror_mistakes{confusion}});
    }
    studies::resnet net = original.ended.net;
    all.unexplained = explained(net, some_of(data.test), folder("explained"));
    return all;
}

// Checks the page's claims for one seed and prints those that do not hold.
bool holds(seed_results const& it) {
    auto const& [original, mirrored, unmirrored, balanced] = it.by_recipe();
    bool all = true;
    auto const claim = [&](bool is_so, char const* what) {
        if (!is_so) { fmt::print("seed {}: it does not hold that {}\n", it.seed, what); }
        all = all && is_so;
    };
    claim(it.says.find("class_imbalance") != std::string::npos, "class_imbalance is reported");
    claim(it.heeded.steps == it.endings.back().steps, "the run that heeds ends where the record of the other says");
    claim(original.mirrored.share() > 0.1, "a tenth of the signs with a mirror image is mistaken for it");
    claim((unmirrored.mirrored.share() + balanced.mirrored.share()) / 2 < original.mirrored.share() / 3,
          "it is less than a third of that without mirrored pictures");
    claim(it.unexplained < 1e-3, "the parts that a map is made of add up to the score, but for a thousandth");
    claim(it.says.find("confusion") != std::string::npos, "confusion is reported for the original recipe");
    return all;
}

}  // namespace

int main(int count, char** given) {
    auto const chosen = studies::parse(count, given, "traffic_signs", studies::traffic_signs::usage, 4);
    if (!chosen) { return 2; }
    studies::split data = studies::traffic_signs::load(chosen->data);
    if (!data.problem().empty()) {
        fmt::print(stderr, "study_traffic_signs: {}\n", data.problem());
        return 2;
    }
    at::set_num_threads(1);
    extent_of_study how;
    if (chosen->quick) {
        data = {only_mirror_pairs(data.train), only_mirror_pairs(data.test)};
        how = {.original = {.width = 4, .steps = 78, .mirrored = true},
               .cured_steps = 78,
               .seeds = 1,
               .measured_width = 4,
               .intervals = {2},
               .chunk = 4};
    }
    if (chosen->plain) {
        sp::hook watch{chosen->out + "/plain", keep, rules, sp::options{.existing = sp::existing::replace}};
        how.original.steps = 20;
        fmt::print("parameters {:016x}\n", train(how.original, data, chosen->seed, watch).parameters);
        return 0;
    }
    std::vector<slowdown> const overhead =
        measure_overhead(data.train, how.measured_width, how.intervals, how.chunk, chosen->out);
    fmt::print("{}\n", overhead_table(overhead));
    record_overhead(overhead, chosen->out + "/overhead");
    std::vector<seed_results> seeds;
    bool all_hold = true;
    for (std::uint64_t i = 0; i < how.seeds; ++i) {
        seeds.push_back(study(how, data, chosen->seed + i, chosen->out));
        all_hold = holds(seeds.back()) && all_hold;
    }
    std::string const text = overhead_table(overhead) + "\n" + endings_table(seeds) + "\n" + recipes_table(seeds) +
                             "\n" + said(seeds.front());
    fmt::print("\n{}\n", text);
    std::string const problem = studies::write_results(chosen->out, text);
    if (!problem.empty()) { fmt::print(stderr, "study_traffic_signs: {}\n", problem); }
    return all_hold && problem.empty() ? 0 : 1;
}
