// SPDX-License-Identifier: Apache-2.0
// A small transformer learns to write licences: once correctly, and three times with a fault that its loss alone does
// not show:
//     study_attention TEXT... [--quick] [--plain] [--seed=N] [--out=FOLDER]
// docs/studies/attention.md. Exit code: 0 when the claims of that page hold, 1 when not, 2 when the command line or a
// file is wrong.
#include "../common/arguments.hpp"
#include "../common/record.hpp"
#include "../common/results.hpp"
#include "training.hpp"

#include <spotter/trial.hpp>

#include <fstream>
#include <iterator>

namespace {

using namespace attention;

// One way to train, and the rule that should report it; none for the healthy one.
struct variant {
    std::string folder{}, name{};
    recipe how{};
    std::string rule{};
};
[[nodiscard]] std::vector<variant> variants(recipe const& base) {
    std::vector<variant> all{{"healthy", "as it should be", base, ""},
                             {"hot", "scores not scaled, a rate of 0.03 at once", base, "attention_collapse"},
                             {"offset", "bias by offset", base, "attention_one_position"},
                             {"first", "first head for all", base, "attention_similar_heads"}};
    all[1].how.net.unscaled = true, all[1].how.learning_rate = 3e-2, all[1].how.warmup = 0;
    all[2].how.net.bias_by_offset = true;
    all[3].how.net.first_for_all = true;
    return all;
}

struct variant_report {
    struct one {
        std::string rule{}, tensor{}, detail{};
        std::uint64_t step = 0;
        double measured = 0;
    };
    variant of{};
    double loss = 0;              // final loss on the test text
    std::vector<one> findings{};  // of the rules on attention
};

struct loaded {
    texts data{};
    std::string problem{};
};
// The last tenth of each file is the test text.
[[nodiscard]] loaded load(std::vector<std::string> const& files) {
    std::vector<torch::Tensor> train, test;
    for (std::string const& path : files) {
        std::ifstream file{path, std::ios::binary};
        std::string text{std::istreambuf_iterator<char>{file}, {}};
        if (!file || text.size() < 5'000) {
            return {{},
                    path +
                        ": is no text of 5000 letters or more (Debian's licences are in /usr/share/common-licenses)"};
        }
        auto const size = static_cast<std::int64_t>(text.size());
        torch::Tensor const letters = torch::from_blob(text.data(), {size}, torch::kByte).to(torch::kLong);
        train.push_back(letters.slice(0, 0, size * 9 / 10));
        test.push_back(letters.slice(0, size * 9 / 10));
    }
    return {{torch::cat(train), torch::cat(test)}, {}};
}

// Records the attention of each head: one step of mode predict on a piece of the test text.
template <class Hook>
void show_heads(transformer& net, texts const& data, shape const& of, Hook& watch) {
    torch::NoGradGuard const no_gradients;
    torch::Tensor const text = data.test.slice(0, 0, of.context).unsqueeze(0);
    watch.begin(sp::predict(0));
    (void)net->forward(text,
                       [&](std::string const& name, torch::Tensor const& weights) { watch.observe(name, weights); });
    (void)watch.end();
}

[[nodiscard]] variant_report trained(variant const& of, texts const& data, std::uint64_t seed,
                                     std::string const& folder) {
    fmt::print("{}\n", folder);
    std::fflush(stdout);
    sp::hook watch{folder, keep, rules, sp::options{.existing = sp::existing::replace}};
    watch.scalar("variant", of.name);
    outcome ended = train(of.how, data, seed, watch);
    show_heads(ended.net, data, of.how.net, watch);
    std::string const path{watch.path()};
    watch.finish();
    variant_report it{of, ended.loss, {}};
    sp::trial const run = studies::record_at(path);
    for (sp::finding const& each : run.findings()) {
        if (!each.rule.starts_with("attention_")) { continue; }
        it.findings.push_back({std::string{each.rule}, std::string{each.tensor}, std::string{each.detail.view()},
                               each.step.index, each.measured});
    }
    return it;
}

[[nodiscard]] std::string table(std::vector<std::pair<std::uint64_t, std::vector<variant_report>>> const& seeds) {
    std::string text = "| seed | training | test loss | reported at step | what |\n|---|---|---|---|---|\n";
    for (auto const& [seed, all] : seeds) {
        for (variant_report const& each : all) {
            std::string steps, words;
            for (variant_report::one const& found : each.findings) {
                steps += fmt::format("{}{}", steps.empty() ? "" : "<br>", found.step);
                words += fmt::format("{}`{}`, `{}`: {:.2f}{}{}", words.empty() ? "" : "<br>", found.rule, found.tensor,
                                     found.measured, found.detail.empty() ? "" : "; ", found.detail);
            }
            text += fmt::format("| {} | {} | {:.2f} | {} | {} |\n", seed, each.of.name, each.loss, steps, words);
        }
    }
    return text;
}

// Checks the page's claims for one seed and prints those that do not hold.
[[nodiscard]] bool holds(std::uint64_t seed, std::vector<variant_report> const& all, bool quick) {
    bool every = true;
    auto const claim = [&](bool is_so, std::string_view what) {
        if (!is_so) { fmt::print("seed {}: it does not hold that {}\n", seed, what); }
        every = every && is_so;
    };
    for (variant_report const& each : all) {
        if (each.of.rule.empty()) {
            claim(each.findings.empty(), "nothing is reported for the training as it should be");
            continue;
        }
        bool const first = !each.findings.empty() && each.findings.front().rule == each.of.rule;
        claim(first, fmt::format("{} is reported first for \"{}\"", each.of.rule, each.of.name));
        // Similar heads do not cost loss here, only the capacity that they should have added.
        if (!quick && each.of.folder != "first") {
            claim(each.loss > all.front().loss, fmt::format("\"{}\" costs loss", each.of.name));
        }
    }
    return every;
}

}  // namespace

int main(int count, char** given) {
    auto const chosen = studies::parse(count, given, "attention", "TEXT... ", studies::any_number);
    if (!chosen) { return 2; }
    loaded const read = load(chosen->data);
    if (!read.problem.empty()) {
        fmt::print(stderr, "study_attention: {}\n", read.problem);
        return 2;
    }
    at::set_num_threads(1);
    recipe base;
    std::uint64_t number = 3;
    if (chosen->quick) {
        base = {.net = {.layers = 2, .context = 32}, .steps = 200, .batch = 8};
        number = 1;
    }
    if (chosen->plain) {
        sp::hook watch{chosen->out + "/plain", keep, rules, sp::options{.existing = sp::existing::replace}};
        base.steps = 40;
        fmt::print("parameters {:016x}\n", train(base, read.data, chosen->seed, watch).parameters);
        return 0;
    }
    std::vector<std::pair<std::uint64_t, std::vector<variant_report>>> seeds;
    bool all_hold = true;
    for (std::uint64_t seed = chosen->seed; seed < chosen->seed + number; ++seed) {
        std::vector<variant_report> all;
        for (variant const& each : variants(base)) {
            all.push_back(trained(each, read.data, seed, fmt::format("{}/{}-{}", chosen->out, each.folder, seed)));
        }
        all_hold = holds(seed, all, chosen->quick) && all_hold;
        seeds.emplace_back(seed, std::move(all));
    }
    std::string const text = table(seeds);
    fmt::print("\n{}", text);
    std::string const problem = studies::write_results(chosen->out, text);
    if (!problem.empty()) { fmt::print(stderr, "study_attention: {}\n", problem); }
    return all_hold && problem.empty() ? 0 : 1;
}
