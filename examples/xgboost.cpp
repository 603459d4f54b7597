// SPDX-License-Identifier: Apache-2.0
// Distinguishes poisonous mushrooms from edible ones with XGBoost's C API, and reads its record afterwards:
//     xgboost <train> <test> [--overfit]                  (two files in LIBSVM format)
// Exit code: 0 when it learnt, 3 when spotter stopped it, 1 otherwise, 2 when the command line or a file is wrong.
#include <spotter/ext/xgboost.hpp>
#include <spotter/report.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace sp = spotter;

constexpr int rounds = 31;

// If one of these holds three times in a row, check the data before growing more trees.
constexpr auto too_deep = sp::on(sp::tree_depth{} | sp::for_steps{3}, sp::stop);
constexpr auto few_features =
    sp::on(sp::feature_importance_overweight{.select = "feature_importance/gain"} | sp::for_steps{3}, sp::stop);

void check(int answer) {
    if (answer == 0) { return; }
    std::fprintf(stderr, "xgboost: %s\n", XGBGetLastError());
    std::exit(2);
}

DMatrixHandle load(char const* path) {
    DMatrixHandle data = nullptr;
    check(XGDMatrixCreateFromFile((std::string{path} + "?format=libsvm").c_str(), 1, &data));
    return data;
}

BoosterHandle make_booster(DMatrixHandle rows, bool overfit) {
    using parameter = std::pair<char const*, char const*>;
    std::vector<parameter> all{{"nthread", "1"},         {"objective", "binary:logistic"}, {"eval_metric", "logloss"},
                               {"eval_metric", "error"}, {"eval_metric", "auc"},           {"verbosity", "0"}};
    std::vector<parameter> const careful{
        {"max_depth", "4"}, {"eta", "0.3"}, {"subsample", "0.8"}, {"colsample_bynode", "0.2"}};
    std::vector<parameter> const greedy{{"max_depth", "20"}, {"eta", "1"}, {"min_child_weight", "0"}, {"lambda", "0"}};
    std::vector<parameter> const& more = overfit ? greedy : careful;
    all.insert(all.end(), more.begin(), more.end());
    BoosterHandle made = nullptr;
    check(XGBoosterCreate(&rows, 1, &made));
    for (auto const& [name, value] : all) { check(XGBoosterSetParam(made, name, value)); }
    return made;
}

// False when spotter requested a stop.
template <class Hook>
bool boost(BoosterHandle booster, DMatrixHandle train, DMatrixHandle test, Hook& watch) {
    sp::boosted_trees const trees{booster, {{"train", train}, {"test", test}}};  // line 1
    bool stopped = false;
    for (int i = 0; i < rounds && !stopped; ++i) {
        check(XGBoosterUpdateOneIter(booster, i, train));
        auto const found = watch.step(sp::train(static_cast<std::uint64_t>(i)), trees);  // line 2
        if (found) { fmt::print("{}\n", found); }
        stopped = found.decision() == sp::decision::stop;
    }
    if (trees.trouble()) { fmt::print("spotter: {}\n", trees.trouble()); }
    return !stopped;
}

// A hash of the model's bytes.
unsigned long long fingerprint(BoosterHandle booster) {
    bst_ulong size = 0;
    char const* bytes = nullptr;
    check(XGBoosterSaveModelToBuffer(booster, R"({"format": "ubj"})", &size, &bytes));
    return sp::hash_bytes(bytes, static_cast<std::size_t>(size));
}

double share_wrong(BoosterHandle booster, DMatrixHandle data) {
    bst_ulong count = 0, labels = 0;
    float const *predictions = nullptr, *wanted = nullptr;
    check(XGDMatrixGetFloatInfo(data, "label", &labels, &wanted));
    check(XGBoosterPredict(booster, data, 0, 0, 0, &count, &predictions));
    bst_ulong wrong = 0;
    for (bst_ulong i = 0; i < count && i < labels; ++i) {
        wrong += (predictions[i] > 0.5F) != (wanted[i] > 0.5F) ? 1U : 0U;
    }
    return count == 0 ? 1.0 : static_cast<double>(wrong) / static_cast<double>(count);
}

// What was recorded, and what it shows about the mushrooms.
void review(std::string const& path) {
    auto opened = sp::open_trial(path);
    if (!opened) { return; }
    sp::trial const run = std::move(opened).value();
    fmt::print("\n");
    for (auto const& each : run.collections()) {
        auto const names = run.names(sp::filter{.collection = each.name});
        fmt::print("{:18} {:3} tensors", each.name, names.size());
        if (!names.empty()) { fmt::print(", at {} steps: {}", run[names[0]].steps().size(), names[0]); }
        fmt::print("{}\n", names.size() > 1 ? ", ..." : "");
    }
    fmt::print("\nround    test-logloss  test-auc  depth  features that matter most, by gain\n");
    for (sp::step_id const step : run["feature_importance/gain"].steps()) {
        auto const gains = run["feature_importance/gain"].at(step).to<std::vector<float>>();
        auto const ids = run["trees/0/id"].at(step).to<std::vector<std::uint64_t>>();
        if (!gains || !ids) { continue; }  // only the part that the rules read was kept
        std::vector<float> const& gain = gains.value();
        std::vector<std::size_t> order(gain.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::partial_sort(order.begin(), order.begin() + 3, order.end(),
                          [&](std::size_t a, std::size_t b) { return gain[a] > gain[b]; });
        std::uint64_t const last = *std::max_element(ids.value().begin(), ids.value().end());
        int depth = 0;
        while ((last + 1) >> (depth + 1) != 0) { ++depth; }
        fmt::print("{:5}    {:12.4f}  {:8.4f}  {:5}  f{}, f{}, f{}\n", step.index,
                   run["test-logloss"].at(step).to<double>().value(), run["test-auc"].at(step).to<double>().value(),
                   depth, order[0], order[1], order[2]);
    }
}

}  // namespace

int main(int count, char** arguments) {
    bool const overfit = count == 4 && std::string_view{arguments[3]} == "--overfit";
    if (count != 3 && !overfit) {
        std::fprintf(stderr, "usage: xgboost <train> <test> [--overfit]\n");
        return 2;
    }
    DMatrixHandle const train = load(arguments[1]), test = load(arguments[2]);
    BoosterHandle const booster = make_booster(train, overfit);
    std::string path;
    bool done = false;
    {
        sp::hook watch{"runs/xgboost", sp::defaults::boosting,       too_deep,
                       few_features,   sp::low_feature_importance{}, sp::options{.existing = sp::existing::replace}};
        done = boost(booster, train, test, watch);
        path = watch.path();
        watch.finish();
        if (!watch.health().good()) { fmt::print("spotter: {}\n", watch.health().first_error); }
    }
    double const wrong = share_wrong(booster, test);
    fmt::print("{}: {:.2f} % of the test mushrooms wrong; parameters {:016x}\n", done ? "done" : "stopped", 100 * wrong,
               fingerprint(booster));
    if (!path.empty()) { review(path); }
    check(XGBoosterFree(booster));
    check(XGDMatrixFree(train));
    check(XGDMatrixFree(test));
    return !done ? 3 : wrong < 0.01 ? 0 : 1;
}
