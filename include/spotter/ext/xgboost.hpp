// SPDX-License-Identifier: Apache-2.0
// Ext (L6): boosted trees of XGBoost 1.7 or later, through its C API: the results of a boosting round, with the names
// and roles that `defaults::boosting` keeps.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/role.hpp>
#include <spotter/ext/xgboost/reader.hpp>

#include <cstring>
#include <initializer_list>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A tensor whose view is computed when it is needed.
struct boosted_look {
    booster_reader* of;
    tensor_ref (booster_reader::*fetch)(std::size_t);
    std::size_t which = 0;

    [[nodiscard]] tensor_ref view() const noexcept {
        return guarded_or([&] { return (of->*fetch)(which); },
                          [&] {
                              of->remember(errc::out_of_memory, "answers", "no memory");
                              return refused_view(refusal::null);
                          });
    }
};

// The same for the first access to an expensive one: type and shape are known without it.
struct first_boosted_look {
    boosted_look it;
    dtype element;
    extents sizes;

    [[nodiscard]] dtype type() const noexcept { return element; }
    [[nodiscard]] extents shape() const noexcept { return sizes; }
    bool copy_to(std::byte* into) const {
        tensor_ref const found = it.view();
        if (found.refused == refusal::none && found.type == element && found.shape == sizes) {
            if (found.count > 0) { std::memcpy(into, found.values.raw, as_size(found.bytes())); }
            return true;
        }
        it.of->remember(errc::bad_config, "answer", "has another shape than was expected");
        return false;
    }
};

}  // namespace detail

template <>
struct tensor_access<detail::boosted_look> {
    [[nodiscard]] static tensor_ref view(detail::boosted_look const& it) noexcept { return it.view(); }
};

// Rows for evaluation, with a name.
struct boosted_set {
    std::string_view name;
    DMatrixHandle data;
};

// A booster as something to observe, made once and passed after each round:
//
//     boosted_trees const trees{booster, {{"train", dtrain}, {"test", dtest}}};
//     ...
//     XGBoosterUpdateOneIter(booster, i, dtrain);
//     auto found = watch.step(train(i), trees);
//
// It calls XGBoost only at steps where a rule or a collection needs the result. The first step also computes what is
// cheap, to get the names. Observed are:
//
//     <set>-<metric>               of each set, each eval_metric
//     hyperparameters/<name>       parameters that are numbers
//     predictions, labels          of the last set (or see look_at), labels where it has any
//     feature_importance/<kind>    weight, gain, cover, total_gain, total_cover: a value for each feature, 0 where no
//                                  split uses it
//     trees/<k>/<column>           of the k-th tree of this round: id, feature, value, gain, cover (boosted_tree), a
//                                  value for each node
//     full_shap                    of the same set: {rows, [classes,] features and the bias}
//     average_shap/<feature>       the mean over the rows; average_shap/bias; with very many features only
//                                  average_shap/all
//
// A linear booster has no trees, and only the importance weight. Nothing here changes the model. Like any prediction or
// evaluation, one made here overwrites the results of the previous one. Use it in one thread; booster and sets must
// outlive it.
class boosted_trees {
public:
    static constexpr std::size_t most_named_features = 4096;  // with more, average_shap is one tensor

    explicit boosted_trees(BoosterHandle booster, std::initializer_list<boosted_set> sets = {}) : reader_{booster} {
        for (boosted_set const& each : sets) { add(each.name, each.data); }
    }
    // Adds a set; the last one is used for predictions.
    boosted_trees& add(std::string_view name, DMatrixHandle data) {
        reader_.add(name, data);
        return *this;
    }
    // Selects the set for predictions, labels and SHAP values. False where there is none of that name.
    bool look_at(std::string_view set) noexcept { return reader_.look_at(set); }

    // For a loop that calls XGBoosterEvalOneIter anyway: its result for this round. The next step uses it instead of
    // evaluating again.
    void evaluated(std::string_view text) noexcept {
        if (!guarded([&] { reader_.take_evaluation(text); })) {
            reader_.remember(errc::out_of_memory, text, "no memory");
        }
    }

    // The first failed call of XGBoost, with its message. Tensors that depend on it are refused, and counted in the
    // hook's health.
    [[nodiscard]] error const& trouble() const noexcept { return reader_.trouble(); }
    // The number of calls of each kind.
    [[nodiscard]] boosted_work const& work() const noexcept { return reader_.work(); }

    template <class Visit>
    friend void visit_tensors(boosted_trees const& it, Visit visit) {
        it.show(visit);
    }

private:
    using reader = detail::booster_reader;

    template <class Visit>
    void show(Visit& visit) const {
        bool const first = !std::exchange(met_, true);
        reader_.begin();
        if (reader_.metrics().size() == 0) { reader_.evaluate(); }
        for (std::size_t i = 0; i < reader_.metrics().size(); ++i) {
            // A name that implies its role is only read where it is needed, any other at each step.
            std::string const& name = reader_.metrics()[i].name;
            if (guess_role(name) == role::metric) {
                visit(name, look(&reader::metric, i));
            } else {
                visit(name, look(&reader::metric, i), role::metric);
            }
        }
        if (reader_.parameters().size() == 0) { reader_.configure(); }
        for (std::size_t i = 0; i < reader_.parameters().size(); ++i) {
            visit(reader_.parameters()[i].name, look(&reader::parameter, i));
        }
        if (reader_.has_sets()) {
            visit("predictions", look(&reader::predictions));
            if (tensor_ref const labels = reader_.labels(0); !labels.absent()) { visit("labels", labels); }
        }
        std::size_t const kinds = reader_.is_linear() ? 1 : std::size(reader::importance_kinds);
        for (std::size_t i = 0; i < kinds; ++i) { visit(importance_names[i], look(&reader::importance, i)); }
        if (!reader_.is_linear()) { show_trees(visit); }
        if (reader_.has_sets()) { show_shap(visit, first); }  // last: a prediction overwrites their memory
    }
    template <class Visit>
    void show_trees(Visit& visit) const {
        if (reader_.trees() == 0) { reader_.grow(); }
        for (std::size_t i = 0; i < reader_.trees() * std::size(reader::columns); ++i) {
            if (i == tree_names_.size()) {
                tree_names_.push_back("trees/" + std::to_string(i / std::size(reader::columns)) + "/" +
                                      std::string{reader::columns[i % std::size(reader::columns)]});
            }
            visit(tree_names_[i], look(&reader::column, i));
        }
    }
    template <class Visit>
    void show_shap(Visit& visit, bool first) const {
        if (!first) {
            visit("full_shap", look(&reader::full_shap));
            for (std::size_t i = 0; i < average_names_.size(); ++i) { visit(average_names_[i], average(i)); }
            return;
        }
        std::size_t const count = reader_.features(), classes = reader_.groups();
        bool const named = count <= most_named_features;
        average_names_ = named ? reader_.feature_names() : std::vector<std::string>{"all"};
        if (named) { average_names_.push_back("bias"); }
        for (std::string& each : average_names_) { each.insert(0, "average_shap/"); }
        extents const one = classes > 1 ? extents{classes} : extents{};
        extents const all = classes > 1 ? extents{count, classes} : extents{count};
        visit("full_shap", detail::first_boosted_look{look(&reader::full_shap), dtype::f32, reader_.shape_of_shap()});
        for (std::size_t i = 0; i < average_names_.size(); ++i) {
            visit(average_names_[i], detail::first_boosted_look{average(i), dtype::f64, named ? one : all});
        }
    }
    [[nodiscard]] detail::boosted_look look(tensor_ref (reader::*fetch)(std::size_t),
                                            std::size_t i = 0) const noexcept {
        return {&reader_, fetch, i};
    }
    [[nodiscard]] detail::boosted_look average(std::size_t i) const noexcept {
        return average_names_.size() == 1 ? look(&reader::all_averages) : look(&reader::average_shap, i);
    }

    static constexpr std::string_view importance_names[] = {"feature_importance/weight", "feature_importance/gain",
                                                            "feature_importance/cover", "feature_importance/total_gain",
                                                            "feature_importance/total_cover"};

    // Reading calls XGBoost, and caches the result for the rest of the step.
    mutable detail::booster_reader reader_;
    mutable std::vector<std::string> tree_names_{}, average_names_{};
    mutable bool met_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI
