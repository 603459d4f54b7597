// SPDX-License-Identifier: Apache-2.0
// Boosted trees of XGBoost: a step is a round, what there is to see are metrics of two sets, trees, importances.
#include "../family.hpp"
#include "inject.hpp"
#include "problems.hpp"

#include <spotter/ext/xgboost.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace diagnosis {

namespace {

struct settings {
    bool classifies = true;
    int depth = 3;
    double eta = 0.3, subsample = 0.8, lambda = 1, leaf = 1;
    std::uint64_t rounds = 30;
};
constexpr settings shapes[] = {{},
                               {false, 4, 0.1, 1, 1, 1, 80},
                               {true, 2, 0.1, 0.5, 1, 1, 60},
                               {false, 6, 0.05, 0.7, 5, 10, 70},
                               {true, 4, 0.5, 1, 10, 2, 20}};

void ask(int answer) {
    if (answer != 0) { std::fprintf(stderr, "xgboost: %s\n", XGBGetLastError()); }
}

class rows {
public:
    rows(samples const& from, bool leaks) {
        auto const [x, y] = rows_and_labels(from, leaks);
        ask(XGDMatrixCreateFromMat(x.data(), y.size(), from.features(), nan_value, &data));
        ask(XGDMatrixSetFloatInfo(data, "label", y.data(), y.size()));
    }
    rows(rows const&) = delete;
    rows& operator=(rows const&) = delete;
    ~rows() { ask(XGDMatrixFree(data)); }

    DMatrixHandle data = nullptr;
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]},
          data_{how_.classifies ? make_clouds(by.seed(), 4, 8, 1.2F, 500) : make_friedman(by.seed(), 0.3F, 500)} {
        prng random{by.seed() + 1000};
        spoil(data_, by.broken(), random);
        if (by.is(fault::too_deep)) { how_ = {how_.classifies, 20, 1, 1, 0, 0, how_.rounds}; }
    }
    void run() {
        course_.plan(how_.rounds, pack_choice::boosting);
        bool const leaks = course_.is(fault::leaked_feature);
        rows const train{data_.train, leaks}, test{data_.eval, leaks};
        BoosterHandle booster = nullptr;
        ask(XGBoosterCreate(&train.data, 1, &booster));
        std::unique_ptr<void, decltype(&XGBoosterFree)> const owner{booster, &XGBoosterFree};
        configure(booster);
        sp::boosted_trees const trees{booster, {{"train", train.data}, {"validation", test.data}}};
        for (std::uint64_t round = 0; round < how_.rounds; ++round) {
            ask(XGBoosterUpdateOneIter(booster, static_cast<int>(round), train.data));
            course_.begin(sp::train(round));
            visit_tensors(trees, [&](std::string_view name, auto const& it, auto... said) { show(name, it, said...); });
            course_.end();
            if (evaluation_due(round, how_.rounds)) { evaluate(booster); }
        }
    }

private:
    void configure(BoosterHandle booster) const {
        auto const text = [](double value) {
            char made[32];
            std::snprintf(made, sizeof made, "%g", value);
            return std::string{made};
        };
        for (auto const& [name, value] :
             {std::pair<char const*, std::string>{"objective", how_.classifies ? "multi:softprob" : "reg:squarederror"},
              {"eval_metric", how_.classifies ? "mlogloss" : "rmse"},
              {"num_class", how_.classifies ? "4" : "0"},
              {"max_depth", std::to_string(how_.depth)},
              {"eta", text(how_.eta * static_cast<double>(rate_factor(course_)))},
              {"subsample", text(how_.subsample)},
              {"lambda", text(how_.lambda)},
              {"min_child_weight", text(how_.leaf)},
              {"seed", std::to_string(course_.seed())},
              {"nthread", "1"},
              {"verbosity", "0"}}) {
            ask(XGBoosterSetParam(booster, name, value.c_str()));
        }
    }
    // SHAP values cost more than all else: their user asks for them at the end, if at all.
    template <class Look, class... Said>
    void show(std::string_view name, Look const& it, Said... said) {
        if constexpr (sp::tensor<Look>) {
            bool const shap = name == "full_shap" || name.starts_with("average_shap/");
            if (!shap) { course_.observe(name, sp::as_tensor(it), said...); }
        }
    }
    void evaluate(BoosterHandle booster) {
        bst_ulong count = 0;
        float const* guess = nullptr;
        rows const clean{data_.eval, false};
        ask(XGBoosterPredict(booster, clean.data, 0, 0, 0, &count, &guess));
        course_.evaluated(badness_of(guess, data_.eval, how_.classifies ? 4 : 1));
    }

    course& course_;
    settings how_;
    task data_;
};

bool const added =
    add_family({.name = "boosted",
                .library = "XGBoost",
                .habit = "trees, a round a step; metrics of two sets, importances and the trees themselves, no weights "
                         "and no gradients",
                .variants = {"four classes, depth 3", "regression, depth 4", "four classes, shallow and slow",
                             "regression, depth 6, long", "four classes, fast, few rounds"},
                .faults = {fault::too_deep, fault::leaked_feature, fault::shuffled_labels, fault::small_rate,
                           fault::zero_rate, fault::imbalanced, fault::noisy_labels, fault::few_samples},
                .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
