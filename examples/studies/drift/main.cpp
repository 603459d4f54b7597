// SPDX-License-Identifier: Apache-2.0
// A net that reads traffic signs is in service when fog comes, or night, or a lens out of focus, or an unknown sign:
//     study_drift TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS [--quick] [--plain] [--seed=N] [--out=FOLDER]
// docs/studies/drift.md. Exit code: 0 when the claims of that page hold, 1 when not, 2 when the command line or a file
// is wrong.
#include "../common/arguments.hpp"
#include "../common/record.hpp"
#include "../common/results.hpp"
#include "serving.hpp"
#include "tables.hpp"

namespace {

using namespace drifting;

constexpr std::int64_t unknown_class = 12;  // priority road: not in the training data

struct extent_of_study {
    recipe how{};
    std::uint64_t seeds = 3;
    std::uint64_t clean = 20, changed = 5;         // streams without a change; streams of each change
    std::uint64_t batches = 400, change_at = 200;  // batches of a stream; the batch of the change
};

// The training pictures; two halves of the test pictures, for the envelope and for the service; and those of the class
// that the net does not know.
struct parts {
    studies::pictures learnt{}, held_out{}, served{}, unknown{};
};
[[nodiscard]] parts split(studies::split const& data, std::uint64_t seed) {
    auto const those = [](studies::pictures const& from, bool unknown) {
        return from.at(from.labels.eq(unknown_class).eq(unknown).nonzero().flatten());
    };
    studies::pictures const fresh = those(data.test, false);
    torch::manual_seed(seed);
    torch::Tensor const order = torch::randperm(fresh.size());
    std::int64_t const half = fresh.size() / 2;
    return {those(data.train, false), fresh.at(order.slice(0, 0, half)), fresh.at(order.slice(0, half)),
            those(data.test, true)};
}

// Runs one stream. After drift is reported the next batches are explained too.
[[nodiscard]] stream_results watched(extent_of_study const& within, studies::resnet& net, sp::envelope const& healthy,
                                     parts const& of, change what, std::uint64_t seed, std::string const& folder) {
    stream_results it{.what = what};
    sp::hook watch{folder, keep,
                   sp::on(sp::drift{.healthy = &healthy} | sp::once, sp::capture{drifted, drifted_batches}),
                   sp::options{.existing = sp::existing::replace}};
    watch.scalar("class_names", studies::traffic_signs::names_text());
    watch.scalar("change", std::string{name_of(what)});
    stream requests{of.served, of.unknown, what, within.change_at, seed};
    std::uint64_t explained_to = 0;
    for (std::uint64_t i = 0; i < within.batches; ++i) {
        served const now = serve(net, requests.next(recipe::requests), watch, i, i < explained_to);
        (i < within.change_at ? it.right_before : it.right_after) += now.right;
        if (now.alarmed) { explained_to = i + 1 + drifted_batches; }
    }
    std::string const path{watch.path()};
    watch.finish();
    it.read(studies::record_at(path), within.change_at);
    return it;
}

[[nodiscard]] seed_results study(extent_of_study const& within, studies::split const& data, std::uint64_t seed,
                                 std::string const& out) {
    parts const of = split(data, seed);
    sp::hook watch{fmt::format("{}/training-{}", out, seed), keep, sp::options{.existing = sp::existing::replace}};
    trained ready = train(within.how, of.learnt, of.held_out, seed, watch);
    std::string const path{watch.path()};
    watch.finish();
    sp::envelope const healthy =
        sp::learn_envelope(studies::record_at(path), {sp::mean, sp::stddev}, {.window = recipe::window});
    seed_results all{.seed = seed, .batches = within.batches, .change_at = within.change_at};
    for (std::uint64_t i = 0; i < within.clean; ++i) {
        all.clean.push_back(watched(within, ready.net, healthy, of, change::none, 1000 * (seed + 1) + i,
                                    fmt::format("{}/clean-{}-{:02}", out, seed, i)));
    }
    for (change const what : changes) {
        for (std::uint64_t i = 0; i < within.changed; ++i) {
            all.changed.push_back(watched(within, ready.net, healthy, of, what, 1000 * (seed + 1) + 500 + i,
                                          fmt::format("{}/{}-{}-{:02}", out, name_of(what), seed, i)));
        }
    }
    fmt::print("seed {}\n{}", seed, seed_table(all));
    std::fflush(stdout);
    return all;
}

// Checks the page's claims for one seed and prints those that do not hold.
[[nodiscard]] bool holds(seed_results const& it) {
    bool all = true;
    auto const claim = [&](bool is_so, std::string_view what) {
        if (!is_so) { fmt::print("seed {}: it does not hold that {}\n", it.seed, what); }
        all = all && is_so;
    };
    for (stream_results const& each : it.clean) {
        claim(!each.reported_at, "nothing is reported for a clean stream");
        claim(each.captured == 0, "nothing is kept of a clean stream");
    }
    // Not so for the net of the quick study.
    bool const knows_its_signs = it.share_right(it.clean, false, change::none) > 0.5;
    for (stream_results const& each : it.changed) {
        if (each.what == change::unknown_class && !knows_its_signs) { continue; }
        claim(each.reported_at && *each.reported_at >= it.change_at, fmt::format("{} is reported", name_of(each.what)));
        claim(each.captured == drifted_batches && each.captured_before == 0, "requests are kept once it drifted");
        claim(each.incompleteness < 1e-3, "the maps' parts add up to the score");
    }
    return all;
}

}  // namespace

int main(int count, char** given) {
    auto const chosen = studies::parse(count, given, "drift", studies::traffic_signs::usage, 4);
    if (!chosen) { return 2; }
    studies::split const data = studies::traffic_signs::load(chosen->data);
    if (!data.problem().empty()) {
        fmt::print(stderr, "study_drift: {}\n", data.problem());
        return 2;
    }
    at::set_num_threads(1);
    extent_of_study within;
    if (chosen->quick) {
        within = {.how = {.width = 4, .steps = 156, .proving = 640},
                  .seeds = 1,
                  .clean = 2,
                  .changed = 1,
                  .batches = 100,
                  .change_at = 40};
    }
    if (chosen->plain) {
        sp::hook watch{chosen->out + "/plain", keep, sp::options{.existing = sp::existing::replace}};
        parts const of = split(data, chosen->seed);
        within.how.steps = 20, within.how.proving = 8;
        fmt::print("parameters {:016x}\n", train(within.how, of.learnt, of.held_out, chosen->seed, watch).parameters);
        return 0;
    }
    std::vector<seed_results> seeds;
    bool all_hold = true;
    for (std::uint64_t i = 0; i < within.seeds; ++i) {
        seeds.push_back(study(within, data, chosen->seed + i, chosen->out));
        all_hold = holds(seeds.back()) && all_hold;
    }
    std::string const text = clean_table(seeds) + "\n" + changes_table(seeds);
    fmt::print("\n{}\n", text);
    std::string const problem = studies::write_results(chosen->out, text);
    if (!problem.empty()) { fmt::print(stderr, "study_drift: {}\n", problem); }
    return all_hold && problem.empty() ? 0 : 1;
}
