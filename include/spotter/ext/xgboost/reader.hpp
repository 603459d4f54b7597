// SPDX-License-Identifier: Apache-2.0
// Ext (L6), for xgboost.hpp: the calls of XGBoost's C API, each made at most once a step, with results as tensors.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/guard.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/source.hpp>
#include <spotter/ext/xgboost/readings.hpp>
#include <spotter/ext/xgboost/trees.hpp>

#include <xgboost/c_api.h>

#include <iterator>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// The number of expensive calls of XGBoost.
struct boosted_work {
    std::uint64_t evaluations = 0;   // of all metrics on all sets
    std::uint64_t predictions = 0;   // of one set
    std::uint64_t explanations = 0;  // SHAP values of one set
    std::uint64_t scores = 0;        // importances of one kind
    std::uint64_t models = 0;        // the whole model, for the trees of one round
};

namespace detail {

// A view is valid until the next view is requested; one of SHAP values until the next prediction. A call that failed is
// not repeated within the step.
class booster_reader {
public:
    static constexpr std::string_view importance_kinds[] = {"weight", "gain", "cover", "total_gain", "total_cover"};
    static constexpr std::string_view columns[] = {"id", "feature", "value", "gain", "cover"};  // of a boosted_tree

    explicit booster_reader(BoosterHandle booster) noexcept : booster_{booster} {}

    void add(std::string_view name, DMatrixHandle data) {
        names_.emplace_back(name);
        sets_.push_back(data);
        looked_at_ = sets_.size() - 1;
    }
    bool look_at(std::string_view name) noexcept {
        for (std::size_t i = 0; i < sets_.size(); ++i) {
            if (names_[i] != name) { continue; }
            looked_at_ = i;
            return true;
        }
        return false;
    }

    // Begins a step: discards the results of the previous one.
    void begin() {
        if (sets_.empty() && !evaluation_given_) { metrics_.begin_telling(); }
        metrics_.drop_missing();
        parameters_.drop_missing();
        done_ = {.evaluated = std::exchange(evaluation_given_, false)};
    }
    void take_evaluation(std::string_view text) { evaluation_given_ = read_evaluation(text, metrics_); }
    void evaluate() {
        if (std::exchange(done_.evaluated, true) || sets_.empty()) { return; }
        std::vector<char const*> names;
        for (std::string const& each : names_) { names.push_back(each.c_str()); }
        char const* text = nullptr;
        ++work_.evaluations;
        metrics_.begin_telling();
        if (went(XGBoosterEvalOneIter(booster_, 0, sets_.data(), names.data(), sets_.size(), &text), "evaluation")) {
            (void)read_evaluation(text, metrics_);
        }
    }
    void configure() {
        if (std::exchange(done_.configured, true)) { return; }
        bst_ulong size = 0;
        char const* text = nullptr;
        parameters_.begin_telling();
        if (went(XGBoosterSaveJsonConfig(booster_, &size, &text), "configuration") &&
            !read_parameters({text, as_size(size)}, "hyperparameters/", parameters_, kind_)) {
            remember(errc::bad_config, "configuration", "is not the JSON that was expected");
        }
    }
    // The trees of the last round. They are read from the whole model: a slice would be smaller, but making one draws
    // random numbers that the training would have drawn.
    void grow() {
        if (std::exchange(done_.grown, true)) { return; }
        trees_.clear();
        int rounds = 0;
        bst_ulong size = 0;
        char const* model = nullptr;
        if (!went(XGBoosterBoostedRounds(booster_, &rounds), "rounds") || rounds <= 0) { return; }
        ++work_.models;
        if (went(XGBoosterSaveModelToBuffer(booster_, R"({"format": "ubj"})", &size, &model), "trees") &&
            !read_last_trees({model, as_size(size)}, static_cast<std::size_t>(rounds), trees_)) {
            trees_.clear();
            remember(errc::bad_config, "trees", "the model is not written as was expected");
        }
    }

    [[nodiscard]] readings const& metrics() const noexcept { return metrics_; }
    [[nodiscard]] readings const& parameters() const noexcept { return parameters_; }
    [[nodiscard]] bool has_sets() const noexcept { return !sets_.empty(); }
    [[nodiscard]] bool is_linear() const noexcept { return kind_ == "gblinear"; }
    [[nodiscard]] std::size_t trees() const noexcept { return trees_.size(); }
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }
    [[nodiscard]] boosted_work const& work() const noexcept { return work_; }

    [[nodiscard]] std::size_t features() {
        bst_ulong count = 0;
        return went(XGBoosterGetNumFeature(booster_, &count), "features") ? as_size(count) : 0;
    }
    // The booster's own, or those of the selected set, or f0, f1, ...
    [[nodiscard]] std::vector<std::string> feature_names() {
        std::size_t const count = features();
        bst_ulong known = 0;
        char const** names = nullptr;
        std::vector<std::string> all;
        bool found = XGBoosterGetStrFeatureInfo(booster_, "feature_name", &known, &names) == 0 && known == count;
        if (!found && has_sets()) {
            found =
                XGDMatrixGetStrFeatureInfo(sets_[looked_at_], "feature_name", &known, &names) == 0 && known == count;
        }
        for (std::size_t i = 0; i < count; ++i) { all.push_back(found ? names[i] : "f" + std::to_string(i)); }
        return all;
    }
    // 1 unless there are several classes or targets.
    [[nodiscard]] std::size_t groups() const noexcept {
        double const classes = parameters_.value_or("hyperparameters/num_class", 1);
        double const targets = parameters_.value_or("hyperparameters/num_target", 1);
        double const most = classes > targets ? classes : targets;
        return most > 1 ? static_cast<std::size_t>(most) : 1;
    }
    [[nodiscard]] extents shape_of_shap() {
        bst_ulong rows = 0;
        (void)went(XGDMatrixNumRow(sets_[looked_at_], &rows), "rows");
        return groups() > 1 ? extents{rows, groups(), features() + 1} : extents{rows, features() + 1};
    }

    [[nodiscard]] tensor_ref metric(std::size_t i) {
        evaluate();
        return number(metrics_, i);
    }
    [[nodiscard]] tensor_ref parameter(std::size_t i) {
        configure();
        return number(parameters_, i);
    }
    // Absent where there are none.
    [[nodiscard]] tensor_ref labels(std::size_t) {
        bst_ulong count = 0, rows = 0;
        float const* values = nullptr;
        if (!went(XGDMatrixGetFloatInfo(sets_[looked_at_], "label", &count, &values), "labels") || count == 0) {
            return {};
        }
        bool const several = XGDMatrixNumRow(sets_[looked_at_], &rows) == 0 && rows > 0 && count > rows;
        return view_of(values, several ? extents{rows, count / rows} : extents{count});
    }
    [[nodiscard]] tensor_ref predictions(std::size_t) {
        ++work_.predictions;
        return predict(0, "predictions");
    }
    [[nodiscard]] tensor_ref full_shap(std::size_t) {
        if (!std::exchange(done_.explained, true)) {
            ++work_.explanations;
            shap_ = predict(2, "SHAP values");
        }
        return shap_;
    }
    // Of one feature, or of the bias, which is the last; with several classes a value for each.
    [[nodiscard]] tensor_ref average_shap(std::size_t feature) {
        if (!average() || (feature + 1) * classes_ > averages_.size()) { return refused_view(refusal::null); }
        return view_of(averages_.data() + feature * classes_, classes_ > 1 ? extents{classes_} : extents{});
    }
    // Of all features, without the bias.
    [[nodiscard]] tensor_ref all_averages(std::size_t) {
        if (!average()) { return refused_view(refusal::null); }
        std::size_t const count = averages_.size() / classes_ - 1;
        return view_of(averages_.data(), classes_ > 1 ? extents{count, classes_} : extents{count});
    }
    // A value for each feature; for a linear booster with several classes, a row for each.
    [[nodiscard]] tensor_ref importance(std::size_t kind) {
        std::string const request =
            "{\"importance_type\": \"" + std::string{importance_kinds[kind]} + numbered_features();
        bst_ulong count = 0, rank = 0;
        char const** names = nullptr;
        bst_ulong const* sizes = nullptr;
        float const* values = nullptr;
        ++work_.scores;
        if (!went(XGBoosterFeatureScore(booster_, request.c_str(), &count, &names, &rank, &sizes, &values),
                  "importances")) {
            return refused_view(refusal::null);
        }
        std::size_t const width = rank > 1 ? static_cast<std::size_t>(sizes[1]) : 1;
        scores_.assign(numbered_ * width, 0.0F);
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t feature = 0;
            if (!read_number(std::string_view{names[i]}, feature) || feature >= numbered_) { continue; }
            for (std::size_t k = 0; k < width; ++k) { scores_[feature * width + k] = values[i * width + k]; }
        }
        return view_of(scores_.data(), width > 1 ? extents{numbered_, width} : extents{numbered_});
    }
    // Tree by tree, each with all columns.
    [[nodiscard]] tensor_ref column(std::size_t i) {
        grow();
        if (i / std::size(columns) >= trees_.size()) { return refused_view(refusal::null); }
        boosted_tree const& tree = trees_[i / std::size(columns)];
        switch (i % std::size(columns)) {
            case 0:
                return as_tensor(tree.id);
            case 1:
                return as_tensor(tree.feature);
            case 2:
                return as_tensor(tree.value);
            case 3:
                return as_tensor(tree.gain);
            default:
                return as_tensor(tree.cover);
        }
    }

    void remember(errc code, std::string_view what, std::string_view why) noexcept {
        if (trouble_) { return; }
        trouble_.code = code;
        trouble_.what << "XGBoost's " << what << ": " << why;
    }

private:
    // Whether a call of the C API succeeded.
    bool went(int answer, std::string_view what) noexcept {
        if (answer == 0) { return true; }
        std::string_view const said = XGBGetLastError();
        remember(errc::bad_config, what, said.substr(0, said.find('\n')));  // without the stack trace that follows
        return false;
    }
    [[nodiscard]] static tensor_ref number(readings const& all, std::size_t i) noexcept {
        return i < all.size() && all[i].in_text ? as_tensor(all[i].value) : refused_view(refusal::null);
    }
    [[nodiscard]] tensor_ref predict(int type, std::string_view what) {
        std::string const request = "{\"type\": " + std::to_string(type) +
                                    ", \"training\": false, \"iteration_begin\": 0, \"iteration_end\": 0, "
                                    "\"strict_shape\": false}";
        bst_ulong rank = 0;
        bst_ulong const* sizes = nullptr;
        float const* values = nullptr;
        if (!went(XGBoosterPredictFromDMatrix(booster_, sets_[looked_at_], request.c_str(), &sizes, &rank, &values),
                  what)) {
            return refused_view(refusal::null);
        }
        extents shape;
        shape.rank = static_cast<std::uint8_t>(rank);
        for (std::size_t axis = 0; axis < rank && axis < max_rank; ++axis) { shape.size[axis] = sizes[axis]; }
        return view_of(values, shape);
    }
    [[nodiscard]] bool average() {
        tensor_ref const all = full_shap(0);
        std::size_t const rank = all.shape.rank;
        if (all.refused != refusal::none || (rank != 2 && rank != 3) || all.count == 0) { return false; }
        if (std::exchange(done_.averaged, true)) { return true; }
        auto const rows = static_cast<std::size_t>(all.shape.size[0]);
        auto const width = static_cast<std::size_t>(all.shape.size[rank - 1]);
        classes_ = rank == 3 ? static_cast<std::size_t>(all.shape.size[1]) : 1;
        averages_.assign(width * classes_, 0.0);
        float const* value = all.values.f32;
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t one = 0; one < classes_; ++one) {
                for (std::size_t i = 0; i < width; ++i) {
                    averages_[i * classes_ + one] += static_cast<double>(*value++);
                }
            }
        }
        for (double& each : averages_) { each /= static_cast<double>(rows); }
        return true;
    }
    // The last part of a request for importances, which come with names: numbers, whatever the names of the features.
    [[nodiscard]] std::string const& numbered_features() {
        std::size_t const count = features();
        if (feature_list_.empty() || count != numbered_) {
            numbered_ = count;
            feature_list_ = "\", \"feature_names\": [";
            for (std::size_t i = 0; i < count; ++i) {
                feature_list_ += (i == 0 ? "\"" : ", \"") + std::to_string(i) + "\"";
            }
            feature_list_ += "]}";
        }
        return feature_list_;
    }

    BoosterHandle booster_;
    std::vector<std::string> names_{};  // of the sets
    std::vector<DMatrixHandle> sets_{};
    std::size_t looked_at_ = 0;
    std::string kind_{};  // of the booster
    bool evaluation_given_ = false;
    struct {
        bool evaluated = false, configured = false, grown = false, explained = false, averaged = false;
    } done_{};  // calls made in this step
    readings metrics_{}, parameters_{};
    std::vector<boosted_tree> trees_{};
    std::vector<float> scores_{};
    std::string feature_list_{};
    std::size_t numbered_ = 0;
    tensor_ref shap_{};
    std::vector<double> averages_{};  // by feature, and within it by class
    std::size_t classes_ = 1;
    error trouble_{};
    boosted_work work_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
