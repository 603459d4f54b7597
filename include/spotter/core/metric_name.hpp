// SPDX-License-Identifier: Apache-2.0
// Core (L0): names under which boosters and other libraries report a metric of a data set, and whether a higher value
// is better.
#pragma once

#include <spotter/core/evaluation_name.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A metric's name without other characters than lower-case letters and digits.
struct known_metric {
    std::string_view name;
    bool rises = false;       // a higher value is better
    bool of_any_set = false;  // XGBoost's: the program chooses the names of the sets, as in `dtest-rmse`
};
inline constexpr known_metric known_metrics[] = {
    // XGBoost
    {"rmse", false, true},
    {"rmsle", false, true},
    {"mae", false, true},
    {"mape", false, true},
    {"mphe", false, true},
    {"logloss", false, true},
    {"error", false, true},
    {"merror", false, true},
    {"mlogloss", false, true},
    {"auc", true, true},
    {"aucpr", true, true},
    {"pre", true, true},
    {"ndcg", true, true},
    {"map", true, true},
    {"ams", true, true},
    {"nloglik", false, true},
    {"deviance", false, true},
    {"accuracy", true, true},
    // LightGBM
    {"l1"},
    {"l2"},
    {"quantile"},
    {"huber"},
    {"fair"},
    {"poisson"},
    {"gamma"},
    {"gammadeviance"},
    {"tweedie"},
    {"binarylogloss"},
    {"binaryerror"},
    {"multilogloss"},
    {"multierror"},
    {"aucmu", true},
    {"averageprecision", true},
    {"crossentropy"},
    {"crossentropylambda"},
    {"kullbackleibler"},
    // CatBoost
    {"multiclass"},
    {"multiclassonevsall"},
    {"multicrossentropy"},
    {"multirmse"},
    {"rmsewithuncertainty"},
    {"smape"},
    {"msle"},
    {"medianabsoluteerror"},
    {"numerrors"},
    {"loglinquantile"},
    {"multiquantile"},
    {"expectile"},
    {"lq"},
    {"logcosh"},
    {"fairloss"},
    {"focal"},
    {"cox"},
    {"survivalaft"},
    {"pairlogit"},
    {"pairlogitpairwise"},
    {"queryrmse"},
    {"querysoftmax"},
    {"querycrossentropy"},
    {"hingeloss"},
    {"hammingloss"},
    {"zerooneloss"},
    {"balancederrorrate"},
    {"brierscore"},
    {"normalizedgini", true},
    {"loglikelihoodofprediction", true},
    {"prauc", true},
    {"queryauc", true},
    {"pairaccuracy", true},
    {"pfound", true},
    {"dcg", true},
    {"filtereddcg", true},
    {"mrr", true},
    {"err", true},
    {"precisionat", true},
    {"recallat", true},
    {"averagegain", true},
    {"totalf1", true},
    {"mcc", true},
    {"kappa", true},
    {"wkappa", true},
    // scikit-learn, Keras and other programs
    {"loss"},
    {"mse"},
    {"meansquarederror"},
    {"meanabsoluteerror"},
    {"rootmeansquarederror"},
    {"nll"},
    {"perplexity"},
    {"bce"},
    {"score", true},
    {"acc", true},
    {"balancedaccuracy", true},
    {"f1", true},
    {"r2", true},
    {"precision", true},
    {"recall", true},
    {"rocauc", true},
    {"auroc", true},
    {"auprc", true},
    {"neglogloss", true},
    {"negmeansquarederror", true},
    {"negmeanabsoluteerror", true},
    {"negrootmeansquarederror", true},
};

// Joins the letters and digits of words, in lower case, up to the length of the longest metric in the table.
class metric_letters {
public:
    constexpr void add(std::string_view word) noexcept {
        last_ = word, before_ = count_;
        for (char const each : word) {
            if (count_ == sizeof letters_) {
                whole_ = false;
                return;
            }
            letters_[count_++] = name_words::lower(each);
        }
    }
    // The metric; null if there is none. A mean over folds counts as the metric: `valid l2-mean`.
    [[nodiscard]] constexpr known_metric const* find() const noexcept {
        known_metric const* const found = find({letters_, count_});
        return found == nullptr && name_words::same(last_, "mean") ? find({letters_, before_}) : found;
    }

private:
    [[nodiscard]] constexpr known_metric const* find(std::string_view text) const noexcept {
        if (!whole_) { return nullptr; }
        for (known_metric const& each : known_metrics) {
            if (each.name == text) { return &each; }
        }
        return nullptr;
    }
    char letters_[40]{};
    std::size_t count_ = 0, before_ = 0;
    std::string_view last_{};
    bool whole_ = true;
};

[[nodiscard]] constexpr known_metric const* metric_in(std::string_view text) noexcept {
    name_words words{text};
    metric_letters letters;
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) { letters.add(word); }
    return letters.find();
}

}  // namespace detail

// A metric and its data set, as views of the name.
struct reported_metric {
    detail::known_metric const* is = nullptr;  // null: no known metric
    std::string_view set{}, metric{};          // of `valid_0's ndcg@5` "valid_0" and "ndcg@5"

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return is != nullptr; }
    [[nodiscard]] constexpr bool rises() const noexcept { return is != nullptr && is->rises; }  // higher is better
    [[nodiscard]] constexpr bool falls() const noexcept { return is != nullptr && !is->rises; }
};

namespace detail {

// A word names the set, before or after the metric: `train-l2`, `learn-Logloss`, `validation_0-rmse`, `rmse/test`.
[[nodiscard]] constexpr reported_metric metric_beside_set_word(std::string_view name) noexcept {
    set_words words{name};
    metric_letters letters;
    char const* first = nullptr;
    char const* last = nullptr;
    std::size_t sets_before = 0;
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
        if (first == nullptr) { first = word.data(), sets_before = words.any() ? 1 : 0; }
        last = word.data() + word.size();
        letters.add(word);
    }
    known_metric const* const found = words.any() && first != nullptr ? letters.find() : nullptr;
    if (found == nullptr) { return {}; }
    auto const from = static_cast<std::size_t>(first - name.data()), to = static_cast<std::size_t>(last - name.data());
    return sets_before > 0 ? reported_metric{found, name.substr(0, from), name.substr(from)}
                           : reported_metric{found, name.substr(to), name.substr(0, to)};
}

// Removes the separators between set and metric.
[[nodiscard]] constexpr std::string_view bare(std::string_view set) noexcept {
    if (std::size_t const own = set.find("'s"); own != set.npos) { set = set.substr(0, own); }
    constexpr std::string_view between = " -_/.:";
    while (!set.empty() && between.find(set.front()) != between.npos) { set.remove_prefix(1); }
    while (!set.empty() && between.find(set.back()) != between.npos) { set.remove_suffix(1); }
    return set;
}

}  // namespace detail

// Parses XGBoost's `<set>-<metric>`, optionally with `@k` and for rankings a final `-`; LightGBM's `<set>'s <metric>`;
// and a metric of the table beside a word that names a set (detail::training_words, detail::evaluation_words),
// optionally with a CatBoost parameter: `learn-Quantile:alpha=0.9`.
[[nodiscard]] constexpr reported_metric reported_metric_of(std::string_view name) noexcept {
    using namespace detail;
    std::size_t const at = name.find('@');
    for (std::string_view const text : {name.substr(0, at), name.substr(0, name.find(':'))}) {
        reported_metric found = metric_beside_set_word(text);
        if (!found) { continue; }
        bool const behind = found.metric.data() != name.data();
        if (behind) { found.metric = name.substr(static_cast<std::size_t>(found.metric.data() - name.data())); }
        found.set = bare(found.set);
        return found;
    }
    if (std::size_t const own = name.find("'s "); own != name.npos && own > 0) {
        std::string_view const metric = name.substr(own + 3);
        return {metric_in(metric.substr(0, metric.find('@'))), name.substr(0, own), metric};
    }
    std::string_view const plain = name.substr(0, name.size() - (name.ends_with('-') ? 1U : 0U));
    std::size_t const dash = plain.rfind('-');
    if (dash == plain.npos || dash == 0 || name.find('/') != name.npos) { return {}; }
    std::string_view const metric = plain.substr(dash + 1);
    known_metric const* const known = metric_in(metric.substr(0, metric.find('@')));
    return known != nullptr && known->of_any_set ? reported_metric{known, plain.substr(0, dash), name.substr(dash + 1)}
                                                 : reported_metric{};
}

}  // namespace spotter::inline SPOTTER_ABI
