// SPDX-License-Identifier: Apache-2.0
// A ResNet18 that reads traffic signs loses its least valuable filters round by round, as computed from the record,
// until a rule ends it:
//     study_pruning TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS [--quick] [--plain] [--seed=N] [--out=FOLDER]
// docs/studies/pruning.md. Exit code: 0 when the claims of that page hold, 1 when not, 2 when the command line or a
// file is wrong.
#include "../common/arguments.hpp"
#include "../common/fingerprint.hpp"
#include "../common/record.hpp"
#include "../common/results.hpp"
#include "enough.hpp"
#include "filters.hpp"

#include <spotter/report.hpp>
#include <spotter/spotter.hpp>

namespace {

using namespace pruning;

struct extent_of_study {
    std::int64_t width = 8, batch = 64;
    std::uint64_t steps = 624, steps_between = 52, seeds = 3;  // before the first round, and after each
    std::uint64_t rounds = 10, batches_judged = 2;
    double lost = 0.03;          // the floor is this far below the initial accuracy
    double share = 0.25;         // the goal, as a share of the initial parameters
    std::int64_t most = 100000;  // most pictures for training, and most for testing
};

// Keeps the results of the rounds, and the activations and gradients of the batches from which filters are ranked.
constexpr sp::plan keep{
    sp::collection{"rounds", "{metric/*,loss}", sp::always{}, sp::payload},
    sp::collection{"filters", "{act/*,grad/act/*}", sp::during{sp::mode::predict}, sp::payload},
};

double accuracy_of(studies::resnet& net, studies::pictures const& test) {
    torch::NoGradGuard const no_gradients;
    net->eval();
    double const right =
        net->forward(studies::as_input(test.pixels)).argmax(1).eq(test.labels).to(torch::kDouble).mean().item<double>();
    net->train();
    return right;
}

template <class Hook>
void train(studies::resnet& net, studies::pictures const& from, extent_of_study const& how, std::uint64_t steps,
           double rate, std::uint64_t& index, Hook& watch) {
    torch::optim::Adam optimizer{net->parameters(), rate};
    for (std::uint64_t i = 0; i < steps; ++i, ++index) {
        watch.begin_section("data");
        studies::pictures const batch = from.at(torch::randint(from.size(), {how.batch}, torch::kLong));
        watch.end_section("data");
        watch.begin(sp::train(index));
        optimizer.zero_grad();
        watch.begin_section("forward");
        torch::Tensor const loss =
            torch::nn::functional::cross_entropy(net->forward(studies::as_input(batch.pixels)), batch.labels);
        watch.end_section("forward");
        watch.begin_section("backward");
        loss.backward();
        watch.end_section("backward");
        watch.observe("loss", loss);
        (void)watch.end();
        auto const part = watch.section("update");
        optimizer.step();
    }
}

// Observes each filter's activations on some batches, and the gradient of the loss; returns those steps.
template <class Hook>
std::vector<sp::step_id> show_filters(studies::resnet& net, studies::pictures const& from, extent_of_study const& how,
                                      std::uint64_t& index, Hook& watch) {
    std::vector<sp::step_id> steps;
    net->eval();
    for (std::uint64_t i = 0; i < how.batches_judged; ++i) {
        studies::pictures const batch = from.at(torch::randint(from.size(), {how.batch}, torch::kLong));
        steps.push_back(sp::predict(index++));
        watch.begin(steps.back());
        torch::Tensor const score =
            net->forward(studies::as_input(batch.pixels), [&](std::string const& name, torch::Tensor const& made) {
                if (!name.ends_with("/relu1")) { return made; }
                return sp::tap_gradient(watch, "grad/act/" + name, watch.tap("act/" + name, made));
            });
        torch::nn::functional::cross_entropy(score, batch.labels).backward();
        (void)watch.end();
    }
    net->train();
    net->zero_grad();
    return steps;
}

struct round_result {
    std::uint64_t number = 0;
    std::int64_t parameters = 0, multiplications = 0;
    double before = 0, after = 0;  // accuracy, before and after further training
};
struct course {
    std::vector<round_result> rounds{};  // the first is the trained net
    std::string ended{};                 // the text of the rule
    std::size_t good = 0;                // index of the last round above the floor
};

// `by_record`: removes the least valuable filters; otherwise random ones, as a control.
course prune(studies::resnet net, studies::split const& data, extent_of_study const& how, bool by_record,
             std::uint64_t seed, std::string const& folder) {
    torch::manual_seed(seed);
    double const first = accuracy_of(net, data.test);
    auto const all = static_cast<double>(parameters_of(net));
    pruned_enough const enough{.floor = first - how.lost, .parameters = how.share * all};
    sp::hook watch{folder, keep, sp::on(enough, sp::stop), sp::options{.existing = sp::existing::replace}};
    watch.scalar("filters go", std::string{by_record ? "by what they are worth" : "at random"});
    course result;
    std::uint64_t trained = 0, shown = 0;
    std::int64_t filters = 0;
    for (std::int64_t const each : inner_of(net)) { filters += each; }
    for (std::uint64_t number = 0; number <= how.rounds; ++number) {
        round_result now{.number = number};
        if (number > 0) {
            std::vector<torch::Tensor> worth;
            if (by_record) {
                std::vector<sp::step_id> const steps = show_filters(net, data.train, how, shown, watch);
                watch.flush();  // the record is read while it is being written
                worth = worth_of_filters(studies::record_at(watch.path()), steps, net->blocks.size());
            } else {
                for (std::int64_t const each : inner_of(net)) { worth.push_back(torch::rand({each})); }
            }
            net = with_filters(net, without_least(worth, static_cast<std::size_t>(filters) / (how.rounds + 1)));
            now.before = accuracy_of(net, data.test);
            train(net, data.train, how, how.steps_between, 5e-4, trained, watch);
        }
        now.parameters = parameters_of(net), now.multiplications = multiplications_of(net);
        now.after = accuracy_of(net, data.test);
        now.before = number == 0 ? now.after : now.before;
        watch.begin(sp::eval(number));
        watch.observe("metric/accuracy", now.after);
        watch.observe("metric/parameters", static_cast<double>(now.parameters));
        auto const found = watch.end();
        result.rounds.push_back(now);
        fmt::print("  {:2}: {:8} parameters, {:.1f} % right, {:.1f} % after training on\n", number, now.parameters,
                   100 * now.before, 100 * now.after);
        std::fflush(stdout);
        if (now.after >= enough.floor) { result.good = result.rounds.size() - 1; }
        if (found.decision() == sp::decision::stop) {
            result.ended = fmt::format("{}", found);
            break;
        }
    }
    return result;
}

std::string table_of(course const& it) {
    std::string text =
        "| round | parameters | multiplications | accuracy before | and after training on |\n|---|---|---|---|---|\n";
    for (round_result const& each : it.rounds) {
        text += fmt::format("| {} | {} | {:.2f} M | {:.1f} % | {:.1f} % |\n", each.number, each.parameters,
                            1e-6 * static_cast<double>(each.multiplications), 100 * each.before, 100 * each.after);
    }
    return text;
}

// Records accuracy over the thousands of removed parameters, one run for each course, for a common page.
void record_figure(course const& it, std::string const& folder) {
    sp::hook watch{folder, sp::plan{sp::collection{"all", "*", sp::always{}, sp::payload}},
                   sp::options{.existing = sp::existing::replace}};
    for (round_result const& each : it.rounds) {
        watch.begin(sp::train(static_cast<std::uint64_t>(it.rounds[0].parameters - each.parameters) / 1000));
        watch.observe("metric/accuracy", each.after);
        (void)watch.end();
    }
}

}  // namespace

int main(int count, char** given) {
    auto const chosen = studies::parse(count, given, "pruning", studies::traffic_signs::usage, 4);
    if (!chosen) { return 2; }
    studies::split data = studies::traffic_signs::load(chosen->data);
    if (!data.problem().empty()) {
        fmt::print(stderr, "study_pruning: {}\n", data.problem());
        return 2;
    }
    at::set_num_threads(1);
    extent_of_study how;
    if (chosen->quick) {
        how = {.width = 4,
               .batch = 32,
               .steps = 120,
               .steps_between = 12,
               .seeds = 1,
               .rounds = 3,
               .lost = 0.1,
               .share = 0.6,
               .most = 400};
        data.test = data.test.at(torch::arange(how.most));
    }
    if (chosen->plain) { how.steps = 20; }
    std::string text =
        "| seed | filters go | ended in round | parameters left | multiplications left | accuracy at first "
        "| right after the first round | of the net that is left |\n|---|---|---|---|---|---|---|---|\n";
    std::string first_course;
    double left = 0;     // share of the parameters, on average
    bool better = true;  // than random pruning, for each seed
    for (std::uint64_t i = 0; i < how.seeds; ++i) {
        std::uint64_t const seed = chosen->seed + i;
        torch::manual_seed(seed);
        studies::resnet net{how.width, studies::traffic_signs::class_count};
        std::uint64_t trained = 0;
        {
            sp::hook watch{fmt::format("{}/trained-{}", chosen->out, seed), keep,
                           sp::options{.existing = sp::existing::replace}};
            train(net, data.train, how, how.steps, 1e-3, trained, watch);
        }
        if (chosen->plain) {
            fmt::print("parameters {:016x}\n", studies::fingerprint(*net));
            return 0;
        }
        double chosen_well = 0, at_random = 0;  // accuracy right after the first round
        for (bool const by_record : {true, false}) {
            std::string const name = by_record ? "by worth" : "at random";
            fmt::print("seed {}, {}\n", seed, name);
            course const it = prune(copy_of(net), data, how, by_record, seed,
                                    fmt::format("{}/{}-{}", chosen->out, by_record ? "worth" : "random", seed));
            round_result const &start = it.rounds.front(), &end = it.rounds[it.good];
            double const share = static_cast<double>(end.parameters) / static_cast<double>(start.parameters);
            record_figure(it, fmt::format("{}/figure/{} {}", chosen->out, name, seed));
            if (by_record) { left += share / static_cast<double>(how.seeds); }
            (by_record ? chosen_well : at_random) = it.rounds[1].before;
            text +=
                fmt::format("| {} | {} | {} | {} ({:.0f} %) | {:.0f} % | {:.1f} % | {:.1f} % | {:.1f} % |\n", seed,
                            name, it.rounds.back().number, end.parameters, 100 * share,
                            100 * static_cast<double>(end.multiplications) / static_cast<double>(start.multiplications),
                            100 * start.after, 100 * it.rounds[1].before, 100 * end.after);
            if (i == 0 && by_record) {
                first_course = table_of(it) + "\nWhat ended it:\n\n```\n" + it.ended + "\n```\n";
            }
        }
        better = better && chosen_well > at_random;
    }
    text += fmt::format("\nSeed {}, by worth:\n\n{}", chosen->seed, first_course);
    fmt::print("\n{}\n", text);
    std::string const problem = studies::write_results(chosen->out, text);
    if (!problem.empty()) { fmt::print(stderr, "study_pruning: {}\n", problem); }
    bool const holds = left < 0.8 && better;
    if (!holds) {
        fmt::print("it does not hold that a fifth of the parameters can go, and that those of least worth are missed "
                   "less than any\n");
    }
    return holds && problem.empty() ? 0 : 1;
}
