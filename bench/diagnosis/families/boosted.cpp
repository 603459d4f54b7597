// SPDX-License-Identifier: Apache-2.0
// Boosted trees of XGBoost: a step is a round, what there is to see are metrics of two sets, trees, importances.
#include "../family.hpp"
#include "inject.hpp"
#include "problems.hpp"

#include <spotter/ext/xgboost.hpp>

#include <algorithm>
#include <string>
#include <type_traits>

namespace diagnosis {

namespace {

struct settings {
    std::string objective = "multi:softprob", metric = "mlogloss", depth = "3", eta = "0.3", subsample = "0.8",
                lambda = "1", leaf = "1";
    std::uint64_t rounds = 30;
};

settings shape_of_booster(course const& by) {
    switch (by.variant()) {
        case 1:
            return {"reg:squarederror", "rmse", "4", "0.1", "1", "1", "1", 80};
        case 2:
            return {"multi:softprob", "mlogloss", "2", "0.1", "0.5", "1", "1", 60};
        case 3:
            return {"reg:squarederror", "rmse", "6", "0.05", "0.7", "5", "10", 70};
        case 4:
            return {"multi:softprob", "mlogloss", "4", "0.5", "1", "10", "2", 20};
        default:
            return {};
    }
}

void ask(int answer) {
    if (answer != 0) { std::fprintf(stderr, "xgboost: %s\n", XGBGetLastError()); }
}

// Rows with their labels; of a leaked label the first feature is a copy.
class rows {
public:
    rows(samples const& from, bool leaks) {
        values x = from.inputs, y = from.targets;
        for (std::int32_t const each : from.classes) { y.push_back(static_cast<float>(each)); }
        std::size_t const features = from.features(), count = y.size();
        for (std::size_t i = 0; i < count && leaks; ++i) { x[i * features] = y[i]; }
        ask(XGDMatrixCreateFromMat(x.data(), count, features, nan_value, &data));
        ask(XGDMatrixSetFloatInfo(data, "label", y.data(), count));
    }
    rows(rows const&) = delete;
    rows& operator=(rows const&) = delete;
    ~rows() { ask(XGDMatrixFree(data)); }

    DMatrixHandle data = nullptr;
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shape_of_booster(by)}, classifies_{how_.metric == "mlogloss"}, data_{make(by)} {}

    void run() {
        course_.plan(how_.rounds, pack_choice::boosting);
        bool const leaks = course_.is(fault::leaked_feature);
        rows const train{data_.train, leaks}, test{data_.eval, leaks};
        BoosterHandle booster = nullptr;
        ask(XGBoosterCreate(&train.data, 1, &booster));
        configure(booster);
        sp::boosted_trees const trees{booster, {{"train", train.data}, {"validation", test.data}}};
        for (std::uint64_t round = 0; round < how_.rounds; ++round) {
            ask(XGBoosterUpdateOneIter(booster, static_cast<int>(round), train.data));
            course_.begin(sp::train(round));
            visit_tensors(trees, [&](std::string_view name, auto const& it, auto... said) { show(name, it, said...); });
            course_.end();
            if (evaluation_due(round, how_.rounds)) { evaluate(booster); }
        }
        ask(XGBoosterFree(booster));
    }

private:
    task make(course& by) const {
        prng random{by.seed() + 1000};
        task made = classifies_ ? make_clouds(by.seed(), 4, 8, 1.2F, 500) : make_friedman(by.seed(), 0.3F, 500);
        spoil(made, by.broken(), random);
        return made;
    }
    void configure(BoosterHandle booster) {
        if (course_.is(fault::too_deep)) {
            how_.depth = "20";
            how_.eta = how_.subsample = "1";
            how_.leaf = how_.lambda = "0";
        }
        float const factor = rate_factor(course_);
        std::string const eta =
            factor == 1.0F ? how_.eta : std::to_string(std::stod(how_.eta) * static_cast<double>(factor));
        for (auto const& [name, value] : {std::pair{"objective", how_.objective.c_str()},
                                          {"eval_metric", how_.metric.c_str()},
                                          {"max_depth", how_.depth.c_str()},
                                          {"eta", eta.c_str()},
                                          {"subsample", how_.subsample.c_str()},
                                          {"lambda", how_.lambda.c_str()},
                                          {"min_child_weight", how_.leaf.c_str()},
                                          {"nthread", "1"},
                                          {"verbosity", "0"}}) {
            ask(XGBoosterSetParam(booster, name, value));
        }
        ask(XGBoosterSetParam(booster, "seed", std::to_string(course_.seed()).c_str()));
        if (classifies_) { ask(XGBoosterSetParam(booster, "num_class", "4")); }
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
        double bad = 0;
        std::size_t const samples_seen = data_.eval.count();
        for (std::size_t i = 0; i < samples_seen; ++i) {
            if (classifies_) {
                bad += std::max_element(guess + 4 * i, guess + 4 * i + 4) - (guess + 4 * i) == data_.eval.classes[i]
                           ? 0.0
                           : 4.0 / 3.0;
            } else {
                auto const gap = static_cast<double>(guess[i] - data_.eval.targets[i]);
                bad += gap * gap;
            }
        }
        course_.evaluated(bad / static_cast<double>(samples_seen));
    }

    course& course_;
    settings how_;
    bool classifies_;
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
