// SPDX-License-Identifier: Apache-2.0
// Boosted trees through XGBoost's C API: the record equals what the API returns, and observing does not change the
// model.
#include <tests/trial/runs.hpp>

#include <spotter/ext/xgboost.hpp>
#include <spotter/replay.hpp>
#include <spotter/rules.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace spotter;
using namespace spotter_test;

namespace {

void good(int answer) {
    if (answer != 0) { FAIL(XGBGetLastError()); }
}

// Rows of pseudo-random features; the label depends on three of them and on chance.
class table {
public:
    static constexpr std::uint64_t width = 6;

    explicit table(std::uint64_t rows, std::uint64_t seed, int classes = 2, std::uint64_t columns = width) {
        std::vector<float> values(rows * columns), labels(rows);
        std::uint64_t state = seed * 2654435761U + 1;
        auto const next = [&] {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            return static_cast<float>(state >> 40U) * 0x1p-24F;
        };
        for (std::uint64_t row = 0; row < rows; ++row) {
            float* const x = &values[row * columns];
            for (std::uint64_t i = 0; i < columns; ++i) { x[i] = next(); }
            float const score = x[0] + x[1] * x[2] + 0.2F * next();
            labels[row] = std::floor(std::fmin(score / 2.21F, 0.999F) * static_cast<float>(classes));
        }
        good(XGDMatrixCreateFromMat(values.data(), rows, columns, -1.0F, &data_));
        good(XGDMatrixSetFloatInfo(data_, "label", labels.data(), rows));
    }
    table(table const&) = delete;
    table& operator=(table const&) = delete;
    ~table() { XGDMatrixFree(data_); }
    operator DMatrixHandle() const { return data_; }

private:
    DMatrixHandle data_ = nullptr;
};

using parameters = std::vector<std::pair<char const*, char const*>>;
parameters const plain{{"objective", "binary:logistic"}, {"max_depth", "3"}, {"eta", "0.25"}};

class booster {
public:
    booster(std::vector<DMatrixHandle> const& sets, parameters const& more) {
        good(XGBoosterCreate(sets.data(), sets.size(), &it_));
        good(XGBoosterSetParam(it_, "nthread", "1"));
        for (auto const& [name, value] : more) { good(XGBoosterSetParam(it_, name, value)); }
    }
    booster(booster const&) = delete;
    booster& operator=(booster const&) = delete;
    ~booster() { XGBoosterFree(it_); }
    operator BoosterHandle() const { return it_; }

    [[nodiscard]] std::vector<float> predict(DMatrixHandle data, int type,
                                             std::vector<std::uint64_t>* shape = nullptr) {
        std::string const request = "{\"type\": " + std::to_string(type) +
                                    ", \"training\": false, \"iteration_begin\": 0, \"iteration_end\": 0, "
                                    "\"strict_shape\": false}";
        bst_ulong rank = 0, count = 1;
        bst_ulong const* sizes = nullptr;
        float const* values = nullptr;
        good(XGBoosterPredictFromDMatrix(it_, data, request.c_str(), &sizes, &rank, &values));
        for (bst_ulong i = 0; i < rank; ++i) { count *= sizes[i]; }
        if (shape != nullptr) { shape->assign(sizes, sizes + rank); }
        return {values, values + count};
    }
    [[nodiscard]] std::vector<float> importance(std::string_view kind) {
        std::string const request = "{\"importance_type\": \"" + std::string{kind} + "\"}";
        bst_ulong count = 0, rank = 0;
        char const** names = nullptr;
        bst_ulong const* sizes = nullptr;
        float const* values = nullptr;
        good(XGBoosterFeatureScore(it_, request.c_str(), &count, &names, &rank, &sizes, &values));
        std::vector<float> all(table::width);
        for (bst_ulong i = 0; i < count; ++i) { all[std::strtoul(names[i] + 1, nullptr, 10)] = values[i]; }
        return all;
    }
    [[nodiscard]] std::string bytes() {
        bst_ulong size = 0;
        char const* text = nullptr;
        good(XGBoosterSaveModelToBuffer(it_, "{\"format\": \"ubj\"}", &size, &text));
        return {text, text + size};
    }
    // A node of the last tree by its dump; nodes are keyed by heap id.
    struct node {
        int feature = -1;
        float value = 0, gain = 0, cover = 0;
        bool operator==(node const&) const = default;
    };
    [[nodiscard]] std::map<std::uint64_t, node> last_tree() {
        bst_ulong count = 0;
        char const** dumps = nullptr;
        good(XGBoosterDumpModelEx(it_, "", 1, "text", &count, &dumps));
        std::map<std::uint64_t, node> all;
        std::vector<std::uint64_t> above;  // heap ids, from the root
        std::string const text = dumps[count - 1];
        for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
            std::string const line = text.substr(at, text.find('\n', at) - at);
            std::size_t const depth = line.find_first_not_of('\t');
            std::uint64_t id = depth == 0 ? 0 : 2 * above[depth - 1] + 1;  // the `yes` branch precedes the `no` branch
            if (all.count(id) != 0) { ++id; }
            above.resize(depth);
            above.push_back(id);
            auto const after = [&](std::string_view word) {
                return std::strtof(line.c_str() + line.find(word) + word.size(), nullptr);
            };
            if (line.find("leaf=") != line.npos) {
                all[id] = {-1, after("leaf="), 0, after("cover=")};
            } else {
                all[id] = {static_cast<int>(after("[f")), after("<"), after("gain="), after("cover=")};
            }
        }
        return all;
    }

private:
    BoosterHandle it_ = nullptr;
};

constexpr plan everything_always{collection{"all", "*", always{}, payload}};

template <class Value>
std::vector<Value> values_of(trial const& run, std::string const& name, step_id step) {
    return run[name].at(step).to<std::vector<Value>>().value();
}

// Boosts `rounds` rounds, watched or not, and returns the model.
template <class Watch>
std::string boost(parameters const& how, int classes, int rounds, Watch&& watch) {
    table const train_rows{200, 1, classes}, test_rows{80, 2, classes};
    booster model{{train_rows, test_rows}, how};
    boosted_trees const trees{model, {{"train", train_rows}, {"test", test_rows}}};
    for (int i = 0; i < rounds; ++i) {
        good(XGBoosterUpdateOneIter(model, i, train_rows));
        watch(i, trees);
    }
    CHECK_FALSE(trees.trouble());
    std::string bytes = model.bytes();
    for (float const each : model.predict(test_rows, 1)) { bytes.append(reinterpret_cast<char const*>(&each), 4); }
    return bytes;
}
std::uint64_t index_of_round(int i) { return static_cast<std::uint64_t>(i); }

}  // namespace

TEST_CASE("every default collection for boosted trees lands in the record, with what the C API says [A26][D19][S24]",
          "[A26][D19][S24]") {
    table const train_rows{300, 1}, test_rows{90, 2};
    parameters more = plain;
    for (char const* each : {"rmse", "auc", "map", "error@0.3"}) { more.emplace_back("eval_metric", each); }
    booster model{{train_rows, test_rows}, more};
    boosted_trees const trees{model, {{"train", train_rows}, {"my-set_0", test_rows}}};
    temporary_folder const folder;
    hook watch{folder / "run", defaults::boosting};

    std::vector<std::string> evaluations;
    std::map<int, std::vector<float>> predictions, shap;
    std::map<int, std::map<std::string, std::vector<float>>> importances;
    std::map<int, std::map<std::uint64_t, booster::node>> last_trees;
    for (int i = 0; i < 21; ++i) {
        good(XGBoosterUpdateOneIter(model, i, train_rows));
        CHECK(watch.step(train(index_of_round(i)), trees).empty());
        DMatrixHandle sets[] = {train_rows, test_rows};
        char const* names[] = {"train", "my-set_0"};
        char const* text = nullptr;
        good(XGBoosterEvalOneIter(model, i, sets, names, 2, &text));
        evaluations.emplace_back(text);
        if (i % 10 != 0) { continue; }
        predictions[i] = model.predict(test_rows, 0);
        shap[i] = model.predict(test_rows, 2);
        for (char const* kind : {"weight", "gain", "cover", "total_gain", "total_cover"}) {
            importances[i][kind] = model.importance(kind);
        }
        last_trees[i] = model.last_tree();
    }
    watch.finish();
    CHECK(watch.health().good());
    CHECK_FALSE(trees.trouble());
    trial const run = open(watch.path());

    names_list const metrics{"my-set_0-auc", "my-set_0-error@0.3", "my-set_0-map", "my-set_0-rmse",
                             "train-auc",    "train-error@0.3",    "train-map",    "train-rmse"};
    CHECK(run.names(filter{.collection = "metrics"}) == metrics);
    CHECK(run.names(filter{.collection = "losses"}) ==
          names_list{"my-set_0-error@0.3", "my-set_0-rmse", "train-error@0.3", "train-rmse"});
    for (std::size_t i = 0; i < evaluations.size(); ++i) {
        for (std::string const& name : metrics) {
            std::size_t const at = evaluations[i].find("\t" + name + ":");
            REQUIRE(at != std::string::npos);
            double const said = std::strtod(evaluations[i].c_str() + at + name.size() + 2, nullptr);
            CHECK(run[name].at(train(i)).to<double>().value() == said);
        }
    }
    ids const tenth{train(0), train(10), train(20)};
    CHECK(run.names(filter{.collection = "feature_importance"}).size() == 5);
    CHECK(run.names(filter{.collection = "full_shap"}) == names_list{"full_shap"});
    // The bias column is left out.
    CHECK(run.names(filter{.collection = "average_shap"}) == names_list{"average_shap/f0", "average_shap/f1",
                                                                        "average_shap/f2", "average_shap/f3",
                                                                        "average_shap/f4", "average_shap/f5"});
    CHECK(run.names(filter{.collection = "trees"}) ==
          names_list{"trees/0/cover", "trees/0/feature", "trees/0/gain", "trees/0/id", "trees/0/value"});
    CHECK(run.names(filter{.collection = "predictions"}) == names_list{"predictions"});
    CHECK(run.names(filter{.collection = "labels"}) == names_list{"labels"});
    CHECK(run["full_shap"].steps() == tenth);
    CHECK(run["trees/0/id"].steps() == tenth);
    CHECK(run["hyperparameters/eta"].steps() == tenth);
    CHECK(run["hyperparameters/eta"].at(train(10)).to<double>().value() == Approx(0.25));
    CHECK(run["hyperparameters/max_depth"].at(train(10)).to<double>().value() == 3);
    CHECK(run["hyperparameters/num_trees"].at(train(10)).to<double>().value() == 11);

    bst_ulong count = 0;
    float const* labels = nullptr;
    good(XGDMatrixGetFloatInfo(test_rows, "label", &count, &labels));
    for (step_id const step : tenth) {
        auto const i = static_cast<int>(step.index);
        CHECK(values_of<float>(run, "labels", step) == std::vector<float>{labels, labels + count});
        CHECK(values_of<float>(run, "predictions", step) == predictions[i]);
        CHECK(values_of<float>(run, "full_shap", step) == shap[i]);
        CHECK(run["full_shap"].shape(step).value() == extents{90, 7});
        for (std::size_t feature = 0; feature < table::width; ++feature) {
            double mean_of = 0;
            for (std::size_t row = 0; row < 90; ++row) { mean_of += static_cast<double>(shap[i][row * 7 + feature]); }
            std::string const name = "average_shap/f" + std::to_string(feature);
            CHECK(run[name].at(step).to<double>().value() == Approx(mean_of / 90).margin(1e-12));
        }
        for (auto const& [kind, values] : importances[i]) {
            CHECK(values_of<float>(run, "feature_importance/" + kind, step) == values);
        }
        auto const id = values_of<std::uint64_t>(run, "trees/0/id", step);
        REQUIRE(id.size() == last_trees[i].size());
        auto const feature = values_of<std::int32_t>(run, "trees/0/feature", step);
        auto const value = values_of<float>(run, "trees/0/value", step);
        auto const gain = values_of<float>(run, "trees/0/gain", step);
        auto const cover = values_of<float>(run, "trees/0/cover", step);
        for (std::size_t node = 0; node < id.size(); ++node) {
            CHECK(last_trees[i][id[node]] == booster::node{feature[node], value[node], gain[node], cover[node]});
        }
    }
    // The SHAP values of a row add up to its margin.
    std::vector<float> const margins = model.predict(test_rows, 1);
    for (std::size_t row = 0; row < 90; ++row) {
        double total = 0;
        for (std::size_t i = 0; i < 7; ++i) { total += static_cast<double>(shap[20][row * 7 + i]); }
        CHECK(total == Approx(margins[row]).margin(1e-4));
    }
}

TEST_CASE("the model has the same bytes, watched in full or not at all") {
    struct kind {
        parameters how;
        int classes;
    };
    kind const kinds[] = {
        {{{"objective", "binary:logistic"}, {"subsample", "0.5"}, {"colsample_bynode", "0.5"}, {"eval_metric", "auc"}},
         2},
        {{{"objective", "binary:logistic"}, {"booster", "dart"}, {"rate_drop", "0.5"}, {"tree_method", "hist"}}, 2},
        {{{"objective", "reg:squarederror"}, {"booster", "gblinear"}, {"updater", "coord_descent"}}, 2},
        {{{"objective", "multi:softprob"}, {"num_class", "3"}, {"tree_method", "hist"}, {"num_parallel_tree", "2"}}, 3},
        {{{"objective", "multi:softmax"}, {"num_class", "3"}, {"tree_method", "approx"}, {"subsample", "0.7"}}, 3},
        {{{"objective", "binary:logistic"}, {"booster", "dart"}, {"rate_drop", "0.5"}, {"tree_method", "approx"}}, 2},
        {{{"objective", "reg:squarederror"},
          {"tree_method", "exact"},
          {"colsample_bylevel", "0.5"},
          {"subsample", "0.6"}},
         2},
        {{{"objective", "binary:logistic"}, {"tree_method", "hist"}, {"grow_policy", "lossguide"}, {"max_leaves", "9"}},
         2},
        {{{"objective", "rank:pairwise"}, {"eval_metric", "ndcg@5"}, {"seed", "7"}}, 2}};
    for (kind const& each : kinds) {
        std::string const alone = boost(each.how, each.classes, 8, [](int, boosted_trees const&) {});
        temporary_folder const folder;
        hook watch{folder / "run",           everything_always, tree_depth{}, feature_importance_overweight{},
                   low_feature_importance{}, non_finite{}};
        std::string const watched = boost(each.how, each.classes, 8, [&](int i, boosted_trees const& trees) {
            CHECK_FALSE(watch.step(train(index_of_round(i)), trees).decision() == decision::stop);
        });
        CHECK(watch.health().good());
        CHECK(watch.health().refused == 0);
        INFO(each.how.front().second);
        CHECK((alone == watched));  // compared without printing the bytes
    }
}

TEST_CASE("expensive values are computed only at steps that need them") {
    auto const work_of = [](auto& watch, int rounds) {
        boosted_work work;
        (void)boost(plain, 2, rounds, [&](int i, boosted_trees const& trees) {
            (void)watch.step(train(index_of_round(i)), trees);
            work = trees.work();
        });
        return work;
    };
    // The first step asks only for cheap values, never for SHAP values.
    hook nothing{plan{}};
    boosted_work const idle = work_of(nothing, 12);
    CHECK((idle.evaluations == 1 && idle.predictions == 1 && idle.scores == 5 && idle.models == 1));
    CHECK(idle.explanations == 0);
    hook depths{plan{}, tree_depth{}};
    boosted_work const deep = work_of(depths, 12);
    CHECK((deep.evaluations == 1 && deep.predictions == 1 && deep.scores == 5 && deep.models == 12));
    hook shares{plan{}, feature_importance_overweight{.select = "*/gain"}};
    CHECK(work_of(shares, 12).scores == 5 + 11);
    hook averages{plan{collection{"average", role::average_shap, every{4}, payload}}};
    CHECK(work_of(averages, 12).explanations == 3);
    hook both{plan{collection{"shap", "*shap*", every{4}, payload}}};
    CHECK(work_of(both, 12).explanations == 3);  // one call serves all of them
    hook defaults_{defaults::boosting};
    boosted_work const usual = work_of(defaults_, 21);
    CHECK((usual.evaluations == 21 && usual.predictions == 3 && usual.scores == 15));
    CHECK((usual.explanations == 3 && usual.models == 3));
}

TEST_CASE("a loop that evaluates by itself passes on its result") {
    table const rows{100, 3};
    booster model{{rows}, plain};
    boosted_trees trees{model};
    hook watch{plan{}, any("*-*", maximum > 0.5)};
    good(XGBoosterUpdateOneIter(model, 0, rows));
    trees.evaluated("[0]\ta:b-logloss:0.25\ttest-error:1\ttest-mine:-nan\n");
    CHECK(watch.step(train(0), trees).size() == 1);
    trees.evaluated("[1]\ta:b-logloss:0.75\ttest-error:0.25");
    auto const found = watch.step(train(1), trees);
    REQUIRE(found.size() == 1);
    CHECK((found.front().tensor == "a:b-logloss" && found.front().measured == 0.75 && found.front().others == 0));
    CHECK(watch.step(train(2), trees).empty());  // found once; there is no data set to evaluate
    CHECK(trees.work().evaluations == 0);

    boosted_trees asks{model, {{"rows", rows}}};
    asks.evaluated("no evaluation");
    (void)watch.step(train(3), asks);
    CHECK(asks.work().evaluations == 1);
    CHECK(watch.health().refused == 0);
}

TEST_CASE("a set is chosen, features have names, classes an axis, and a linear booster has no trees") {
    table const three{120, 5, 3}, more{40, 6, 3};
    temporary_folder const folder;
    {
        booster model{{three, more}, {{"objective", "multi:softprob"}, {"num_class", "3"}, {"num_parallel_tree", "2"}}};
        char const* names[] = {"odor=n", "a<b", "bias_of_mine", "x/y", "loss", "k@3.5"};
        good(XGBoosterSetStrFeatureInfo(model, "feature_name", names, 6));
        boosted_trees trees{model};
        trees.add("three", three).add("more", more);
        CHECK_FALSE(trees.look_at("none"));
        CHECK(trees.look_at("three"));
        hook watch{folder / "classes", defaults::boosting};
        for (int i = 0; i < 11; ++i) {
            good(XGBoosterUpdateOneIter(model, i, three));
            CHECK(watch.step(train(index_of_round(i)), trees).empty());
        }
        watch.finish();
        CHECK(watch.health().good());
        trial const run = open(watch.path());
        for (step_id const step : {train(0), train(10)}) {
            CHECK(run["full_shap"].shape(step).value() == extents{120, 3, 7});
            CHECK(run["predictions"].shape(step).value() == extents{120, 3});
            CHECK(run["average_shap/odor=n"].shape(step).value() == extents{3});
            auto const all = values_of<float>(run, "full_shap", step);
            double total = 0;
            for (std::size_t row = 0; row < 120; ++row) { total += static_cast<double>(all[(row * 3 + 2) * 7 + 1]); }
            CHECK(values_of<double>(run, "average_shap/a<b", step)[2] == Approx(total / 120).margin(1e-12));
        }
        CHECK(run.names("average_shap/*").size() == 6);
        CHECK(run.names("trees/*/id").size() == 6);  // three classes, two trees each
        CHECK(run["feature_importance/gain"].shape(train(10)).value() == extents{6});
    }
    booster linear{{three}, {{"objective", "multi:softmax"}, {"num_class", "3"}, {"booster", "gblinear"}}};
    boosted_trees const trees{linear, {{"three", three}}};
    hook watch{folder / "linear", everything_always, tree_depth{}};
    good(XGBoosterUpdateOneIter(linear, 0, three));
    (void)watch.step(train(0), trees);
    watch.finish();
    CHECK(watch.health().good());
    trial const run = open(watch.path());
    CHECK(run.names("trees/*").empty());
    CHECK(run.names("feature_importance/*") == names_list{"feature_importance/weight"});
    CHECK(run["feature_importance/weight"].shape(train(0)).value() == extents{6, 3});
    CHECK(run.findings().empty());
}

TEST_CASE("of very many features the averages are one tensor") {
    table const wide{30, 4, 2, boosted_trees::most_named_features + 1};
    booster model{{wide}, plain};
    boosted_trees const trees{model, {{"wide", wide}}};
    temporary_folder const folder;
    hook watch{folder / "run", plan{collection{"shap", "*shap*", always{}, payload}}};
    for (int i = 0; i < 2; ++i) {
        good(XGBoosterUpdateOneIter(model, i, wide));
        CHECK(watch.step(train(index_of_round(i)), trees).empty());
    }
    watch.finish();
    CHECK(watch.health().good());
    trial const run = open(watch.path());
    CHECK(run.names() == names_list{"average_shap/all", "full_shap"});
    std::size_t const width = boosted_trees::most_named_features + 2;
    for (step_id const step : {train(0), train(1)}) {
        auto const averages = values_of<double>(run, "average_shap/all", step);
        auto const all = values_of<float>(run, "full_shap", step);
        REQUIRE(averages.size() == width - 1);
        double total = 0;
        for (std::size_t row = 0; row < 30; ++row) { total += static_cast<double>(all[row * width]); }
        CHECK(averages[0] == Approx(total / 30).margin(1e-12));
    }
}

TEST_CASE("what XGBoost refuses is counted, with its reason, and the loop goes on") {
    table const rows{60, 1}, wider{60, 2, 2, table::width + 3};
    booster model{{rows}, plain};
    boosted_trees const trees{model, {{"rows", rows}, {"wider", wider}}};
    hook watch{everything_always, non_finite{}};
    for (int i = 0; i < 3; ++i) {
        good(XGBoosterUpdateOneIter(model, i, rows));
        CHECK(watch.step(train(index_of_round(i)), trees).empty());
    }
    CHECK(trees.trouble().code == errc::bad_config);
    CHECK(trees.trouble().what.view().find("XGBoost's evaluation: ") == 0);
    CHECK(trees.trouble().what.view().find("umber of columns") != std::string_view::npos);
    CHECK(watch.health().refused > 0);
    CHECK(watch.health().steps == 3);

    // A missing label, or a booster without trees, is no error.
    booster fresh{{rows}, plain};
    boosted_trees const unlearnt{fresh, {{"rows", rows}}};
    hook other{everything_always, tree_depth{}, feature_importance_overweight{}};
    CHECK(other.step(train(0), unlearnt).empty());
    CHECK_FALSE(unlearnt.trouble());
}

TEST_CASE("XGBoost's own defaults are no alarm at the evaluation's best, nor 2 % above it") {
    for (std::uint64_t const seed : {1U, 2U, 3U, 4U}) {
        table const train_set{800, seed, 1 << 20}, test_set{400, seed + 100, 1 << 20};  // nearly continuous
        booster const it{{train_set, test_set}, {}};
        boosted_trees const trees{it, {{"train", train_set}, {"validation", test_set}}};
        hook watch{plan{}, packs::boosting};
        std::vector<double> evaluated;
        for (int i = 0; i < 60; ++i) {
            good(XGBoosterUpdateOneIter(it, i, train_set));
            DMatrixHandle sets[] = {test_set};
            char const* names[] = {"validation"};
            char const* text = nullptr;
            good(XGBoosterEvalOneIter(it, i, sets, names, 1, &text));
            evaluated.push_back(std::strtod(std::strrchr(text, ':') + 1, nullptr));
            step_alarm const found = watch.step(train(static_cast<std::uint64_t>(i)), trees);
            INFO("seed " << seed << ", round " << i << ", " << (found.empty() ? "" : std::string{found[0].rule}));
            CHECK_FALSE(found);
        }
        auto const of_its_best = [&](std::ptrdiff_t rounds) {
            auto const end = evaluated.begin() + rounds;
            return *(end - 1) / *std::min_element(evaluated.begin(), end);
        };
        CHECK(evaluated.back() < 0.25 * evaluated.front());
        CHECK(of_its_best(30) < 1.01);
        CHECK(of_its_best(60) < 1.02);
    }
}

TEST_CASE("tree_depth and the importance rules judge a booster, inline as in a replay") {
    temporary_folder const folder;
    parameters const how{
        {"objective", "binary:logistic"}, {"max_depth", "7"}, {"gamma", "0"}, {"min_child_weight", "0"}};
    constexpr plan keep{collection{"importances", role::importance, always{}, payload}};
    constexpr tree_depth deep{.depth = 5};
    constexpr feature_importance_overweight heavy{.threshold = 0.6};
    hook watch{folder / "run", keep, deep, heavy, low_feature_importance{}};
    std::vector<std::string> inside, outside;
    auto const note = [](std::vector<std::string>& into, spotter::step_alarm const& found) {
        for (finding const& each : found) {
            into.push_back(std::string{each.rule} + std::string{each.tensor} + std::to_string(each.step.index) +
                           std::to_string(each.measured) + std::string{each.detail.view()});
        }
    };
    (void)boost(how, 2, 10, [&](int i, boosted_trees const& trees) {
        auto const found = watch.step(train(index_of_round(i)), trees);
        CHECK(found.size() >= 1);
        note(inside, found);
    });
    watch.finish();
    replay_report const report = replay(open(watch.path()), deep, heavy, low_feature_importance{},
                                        [&](spotter::step_alarm const& found) { note(outside, found); });
    CHECK(report.whole);
    CHECK(inside == outside);
    CHECK(inside.size() > 10);
}
