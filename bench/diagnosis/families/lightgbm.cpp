// SPDX-License-Identifier: Apache-2.0
// Boosted trees of LightGBM by its C API: a step is a round. Shown are its metrics under its own names, and
// importances.
#include "../family.hpp"
#include "inject.hpp"
#include "problems.hpp"

#include <LightGBM/c_api.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace diagnosis {

namespace {

constexpr std::size_t classes = 4, features = 8;

struct settings {
    bool classifies = true;
    int leaves = 5;
    double rate = 0.1;
    std::uint64_t rounds = 60;
    char const* more = "";  // further parameters
};
constexpr settings shapes[] = {{},
                               {false, 15, 0.1, 80, ""},
                               {true, 4, 0.1, 60, "bagging_fraction=0.6 bagging_freq=1"},
                               {false, 31, 0.05, 120, "feature_fraction=0.7 lambda_l2=5"},
                               {false, 7, 0.2, 60, "boosting=dart drop_rate=0.1"}};

void ask(int answer) {
    if (answer != 0) { std::fprintf(stderr, "LightGBM: %s\n", LGBM_GetLastError()); }
}

struct freed {
    void operator()(void* it) const { ask(is_booster ? LGBM_BoosterFree(it) : LGBM_DatasetFree(it)); }
    bool is_booster = false;
};
using handle = std::unique_ptr<void, freed>;

// Samples with their labels, in the bins of `like`.
handle rows_of(samples const& from, bool leaks, void* like = nullptr) {
    auto const [x, y] = rows_and_labels(from, leaks);
    void* made = nullptr;
    ask(LGBM_DatasetCreateFromMat(x.data(), C_API_DTYPE_FLOAT32, static_cast<int>(y.size()),
                                  static_cast<int>(from.features()), 1, "verbosity=-1 num_threads=1", like, &made));
    ask(LGBM_DatasetSetField(made, "label", y.data(), static_cast<int>(y.size()), C_API_DTYPE_FLOAT32));
    return handle{made};
}

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]},
          data_{how_.classifies ? make_clouds(by.seed(), classes, features, 1.2F, 500)
                                : make_friedman(by.seed(), 0.3F, 500)} {
        prng random{by.seed() + 1000};
        spoil(data_, by.broken(), random);
    }
    void run() {
        course_.plan(how_.rounds, pack_choice::boosting);
        bool const leaks = course_.is(fault::leaked_feature);
        handle const train = rows_of(data_.train, leaks), test = rows_of(data_.eval, leaks, train.get());
        void* made = nullptr;
        ask(LGBM_BoosterCreate(train.get(), parameters().c_str(), &made));
        handle const booster{made, freed{true}};
        ask(LGBM_BoosterAddValidData(booster.get(), test.get()));
        for (std::uint64_t round = 0; round < how_.rounds; ++round) {
            int is_over = 0;
            ask(LGBM_BoosterUpdateOneIter(booster.get(), &is_over));
            show(round, booster.get());
            if (evaluation_due(round, how_.rounds)) { evaluate(booster.get()); }
        }
    }

private:
    [[nodiscard]] std::string parameters() const {
        bool const too_deep = course_.is(fault::too_deep);
        char made[512];
        std::snprintf(made, sizeof made,
                      "%s learning_rate=%.9g num_leaves=%d min_data_in_leaf=%d lambda_l2=0 seed=%llu num_threads=1 "
                      "deterministic=true verbosity=-1 is_provide_training_metric=true %s",
                      how_.classifies ? "objective=multiclass num_class=4 metric=multi_logloss"
                                      : "objective=regression metric=l2",
                      too_deep ? 1.0 : (std::max)(how_.rate * static_cast<double>(rate_factor(course_)), 1e-30),
                      too_deep ? 1000 : how_.leaves, too_deep ? 1 : 5, static_cast<unsigned long long>(course_.seed()),
                      too_deep ? "" : how_.more);
        return made;
    }
    void show(std::uint64_t round, void* booster) {
        course_.begin(sp::train(round));
        char const* const metric = how_.classifies ? "multi_logloss" : "l2";
        for (auto const& [set, index] : {std::pair{"training's ", 0}, std::pair{"valid_0's ", 1}}) {
            int count = 0;
            double value = 0;
            ask(LGBM_BoosterGetEval(booster, index, &count, &value));
            course_.scalar(std::string{set} + metric, value);
        }
        std::vector<double> gains(data_.train.features());
        ask(LGBM_BoosterFeatureImportance(booster, 0, C_API_FEATURE_IMPORTANCE_GAIN, gains.data()));
        course_.observe("feature_importance/gain", sp::view_of(gains, {gains.size()}));
        course_.end();
    }
    void evaluate(void* booster) {
        std::size_t const count = data_.eval.count(), outputs = how_.classifies ? classes : 1;
        std::vector<double> guess(count * outputs);
        std::int64_t made = 0;
        ask(LGBM_BoosterPredictForMat(booster, data_.eval.inputs.data(), C_API_DTYPE_FLOAT32, static_cast<int>(count),
                                      static_cast<int>(data_.eval.features()), 1, C_API_PREDICT_NORMAL, 0, -1, "",
                                      &made, guess.data()));
        course_.evaluated(badness_of(guess.data(), data_.eval, outputs));
    }

    course& course_;
    settings how_;
    task data_;
};

bool const added =
    add_family({.name = "lightgbm",
                .library = "LightGBM",
                .habit = "trees by the C API, a round a step; the library's metrics of two sets under "
                         "its own names, and importances",
                .variants = {"four classes", "regression", "four classes, small trees, bagging", "regression, slow",
                             "regression, dropout of trees"},
                .faults = {fault::too_deep, fault::leaked_feature, fault::shuffled_labels, fault::small_rate,
                           fault::imbalanced, fault::noisy_labels, fault::few_samples},
                .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
