// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of judged.hpp.
#include "page/judged.hpp"

#include "page/text.hpp"

#include <spotter/rule/builtin/classes.hpp>
#include <spotter/stat/units.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

namespace spotter::inline SPOTTER_ABI::html::detail {

image_shape image_of(extents const& shape) {
    auto const size = [&](std::size_t axis) { return static_cast<std::size_t>(shape.size[axis]); };
    auto const is_colour = [](std::size_t channels) { return channels == 1 || channels == 3 || channels == 4; };
    if (shape.rank == 3) { return {size(2), size(1), 1, false}; }
    if (shape.rank == 4 && is_colour(size(1))) { return {size(3), size(2), size(1), false}; }
    if (shape.rank == 4 && is_colour(size(3))) { return {size(2), size(1), size(3), true}; }
    if (shape.rank != 2) { return {}; }
    auto const side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(size(1)))));
    if (side * side == size(1) && side >= 4) { return {side, side, 1, false}; }
    auto const third = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(size(1)) / 3)));
    if (3 * third * third == size(1) && third >= 4) { return {third, third, 3, false}; }
    return {};
}

picture draw_sample(std::span<double const> values, image_shape const& shape) {
    constexpr std::size_t largest = 64;
    std::size_t const stride = ((std::max)(shape.width, shape.height) + largest - 1) / largest;
    double low = 0, high = 0;
    bool any_yet = false;
    for (double const& each : values) {
        if (!is_finite(each)) { continue; }
        low = any_yet ? (std::min)(low, each) : each;
        high = any_yet ? (std::max)(high, each) : each;
        any_yet = true;
    }
    picture it{(shape.width + stride - 1) / stride, (shape.height + stride - 1) / stride, {}};
    std::size_t const shown = shape.channels >= 3 ? 3 : 1, area = shape.width * shape.height;
    for (std::size_t y = 0; y < shape.height; y += stride) {
        for (std::size_t x = 0; x < shape.width; x += stride) {
            std::size_t const pixel = y * shape.width + x;
            for (std::size_t k = 0; k < 3; ++k) {
                std::size_t const channel = shown == 1 ? 0 : k;
                double const& value =
                    values[shape.channels_last ? pixel * shape.channels + channel : channel * area + pixel];
                double const share = is_finite(value) && high > low ? (value - low) / (high - low) : 0;
                it.pixels.push_back(static_cast<std::uint8_t>(share * 255));
            }
        }
    }
    return it;
}

// What a score is as it was given.
enum class score_kind : std::uint8_t { shares, logits, logarithms };

// Of two classes one score, that of the second.
static void take_one_score(tensor_ref const& view, score_kind kind, classes_said& into) {
    double const middle = kind == score_kind::logarithms ? std::log(0.5) : kind == score_kind::logits ? 0 : 0.5;
    for (double const& each : row_major_values(view)) {
        if (!is_finite(each)) {
            into.classes.push_back(no_class), into.certainty.push_back(0), into.scores.push_back(0);
            continue;
        }
        double const share = kind == score_kind::logarithms ? std::exp(each)
                             : kind == score_kind::logits   ? 1 / (1 + std::exp(-each))
                                                            : each;
        bool const second = each > middle;
        into.classes.push_back(second ? 1 : 0);
        into.certainty.push_back(second ? share : 1 - share);
        into.scores.push_back(share);
    }
    into.columns = 1;
}

// Writes the scores of a sample, as shares of their sum, into the `columns` values at `scores`. `said` is the best
// class; returns its share.
template <class Row>
[[nodiscard]] static double take_row(Row const& row, std::size_t count, std::uint32_t said, score_kind kind,
                                     std::span<double> scores) {
    double const best = row(said).value;
    bool const powers = kind != score_kind::shares;
    auto const part = [&](seen_element const& each) {
        return each.kind >= number_class::pos_inf ? 0 : powers ? std::exp(each.value - best) : each.value;
    };
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) { sum += part(row(i)); }
    for (std::size_t i = 0; i < scores.size() && sum > 0; ++i) { scores[i] = part(row(i)) / sum; }
    return (std::clamp)(powers ? 1 / sum : sum > 0 ? best / sum : 0, 0.0, 1.0);
}

classes_said classes_in(tensor_story const& tensor, tensor_ref const& view, bool binary) {
    classes_said found;
    class_reading const how = tensor.info.role == role::label ? class_reading::of_labels : class_reading::by_type;
    int const axis = scores_along(tensor.info, view, how, default_axis);
    score_kind const kind = are_log_probabilities(tensor.info, view, axis) ? score_kind::logarithms
                            : has(tensor.info.flags, flag::logits)         ? score_kind::logits
                                                                           : score_kind::shares;
    if (axis < 0 && binary && is_floating(view.type)) {
        take_one_score(view, kind, found);
        return found;
    }
    feature classes;
    extract_classes(view, axis, how, classes);
    for (double const& each : classes.all()) { found.classes.push_back(class_of(each)); }
    found.certainty.assign(found.classes.size(), 0);
    if (axis < 0 || found.classes.empty()) { return found; }
    auto const count = static_cast<std::size_t>(view.shape.size[static_cast<std::size_t>(axis)]);
    constexpr std::size_t most_columns = 64;
    found.columns = count <= most_columns ? count : 0;
    found.scores.assign(found.classes.size() * found.columns, 0);
    std::size_t sample = 0;
    for_each_row(view, axis, [&](auto const& row) {
        std::uint32_t const said = found.classes[sample];
        std::span<double> const scores = std::span{found.scores}.subspan(sample * found.columns, found.columns);
        if (said != no_class) { found.certainty[sample] = take_row(row, count, said, kind, scores); }
        ++sample;
    });
    return found;
}

[[nodiscard]] static bool only_two(std::vector<std::uint32_t> const& classes) {
    return std::all_of(classes.begin(), classes.end(),
                       [](std::uint32_t each) { return each <= 1 || each == no_class; });
}

tensor_story const* kept_of(run_story const& story, role what, mode in) {
    for (tensor_story const& each : story.tensors) {
        if (each.info.role == what && !each.modes[index_of(in)].recent.empty()) { return &each; }
    }
    return nullptr;
}

// What labels and predictions say of the samples of a step.
struct judged_batch {
    classes_said truth{}, taken{};

    // Calls `take` with the number, the label and the prediction of each sample where both are known.
    template <class Take>
    void each_known(Take const& take) const {
        for (std::size_t i = 0; i < truth.classes.size(); ++i) {
            std::uint32_t const label = truth.classes[i], said = taken.classes[i];
            if (label != no_class && said != no_class) { take(i, label, said); }
        }
    }
};

// None where a tensor cannot be read, or where the two are of different samples.
[[nodiscard]] static std::optional<judged_batch> read_batch(tensor_story const& labels, tensor_story const& predictions,
                                                            step_id step, value_source& from) {
    recorded_value const given = from.read(labels, step), said = from.read(predictions, step);
    if (!given || !said) { return {}; }
    judged_batch batch;
    batch.truth = classes_in(labels, given.view(), false);
    batch.taken = classes_in(predictions, said.view(), only_two(batch.truth.classes));
    if (batch.truth.classes.size() != batch.taken.classes.size()) { return {}; }
    return batch;
}

// Labels and scores of one evaluation, if they are not too many.
struct scored_samples {
    static constexpr std::size_t most_scores = 1U << 22U;

    std::vector<std::uint32_t> labels{};
    std::size_t columns = 0;
    std::vector<double> scores{};

    void add(classes_said const& truth, classes_said const& said) {
        bool const fits = said.columns > 0 && (columns == 0 || columns == said.columns) &&
                          said.scores.size() == truth.classes.size() * said.columns &&
                          scores.size() + said.scores.size() <= most_scores;
        if (!fits) { return; }
        columns = said.columns;
        labels.insert(labels.end(), truth.classes.begin(), truth.classes.end());
        scores.insert(scores.end(), said.scores.begin(), said.scores.end());
    }
};

static std::vector<roc_curve> rocs_of(scored_samples const& it, class_counts const& counts,
                                      std::vector<std::string> const& names) {
    constexpr std::size_t most = 6;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> classes{counts.labels.begin(), counts.labels.end()};
    std::sort(classes.begin(), classes.end(), [](auto const& a, auto const& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    if (it.columns <= 2) { classes = {{1, 0}}; }
    std::vector<roc_curve> found;
    for (std::size_t k = 0; k < classes.size() && k < most; ++k) {
        std::uint32_t const which = classes[k].first;
        std::size_t const column = it.columns == 1 ? 0 : which;
        if (column >= it.columns) { continue; }
        std::vector<double> scores;
        std::vector<bool> is_of_class;
        for (std::size_t i = 0; i < it.labels.size(); ++i) {
            if (it.labels[i] == no_class) { continue; }
            scores.push_back(it.scores[i * it.columns + column]);
            is_of_class.push_back(it.labels[i] == which);
        }
        bool const named = which < names.size() && !names[which].empty();
        found.push_back(roc_of(named ? names[which] : fmt::format("class {}", which), scores, is_of_class));
    }
    return found;
}

// The share of right predictions over the run, at the few steps whose values are read.
static void read_hits(class_hits& into, tensor_story const& labels, tensor_story const& predictions, mode in,
                      value_source& from) {
    for (kept_step const& each : labels.modes[index_of(in)].kept.items()) {
        auto const batch = read_batch(labels, predictions, each.step, from);
        if (!batch) { continue; }
        batch->each_known(
            [&](std::size_t, std::uint32_t label, std::uint32_t said) { into.add(each.at, label, label == said); });
    }
}

std::vector<mistake> choose_mistakes(std::vector<mistake> all, class_counts const& counts) {
    constexpr std::size_t most = 24, most_pairs = 6, most_of_pair = 3;
    std::sort(all.begin(), all.end(), [](mistake const& a, mistake const& b) {
        return a.certainty != b.certainty ? a.certainty > b.certainty
                                          : std::tie(a.step, a.sample) < std::tie(b.step, b.sample);
    });
    std::vector<mistake> chosen;
    std::vector<bool> taken(all.size());
    auto const take = [&](std::size_t room, auto const& wanted) {
        for (std::size_t i = 0; i < all.size() && room > 0; ++i) {
            if (taken[i] || !wanted(all[i])) { continue; }
            chosen.push_back(all[i]);
            taken[i] = true;
            --room;
        }
    };
    auto const pairs = counts.confused();
    for (std::size_t k = 0; k < pairs.size() && k < most_pairs; ++k) {
        take(most_of_pair, [&](mistake const& it) { return it.label == pairs[k].first && it.said == pairs[k].second; });
    }
    take(most - chosen.size(), [](mistake const&) { return true; });
    return chosen;
}

// Draws the mistakes' pictures; reads each of their steps once.
static void draw_mistakes(judged_samples& into, tensor_story const& inputs, value_source& from) {
    std::set<step_id> steps;
    for (mistake const& each : into.mistakes) { steps.insert(each.step); }
    for (step_id const step : steps) {
        recorded_value const value = from.read(inputs, step);
        image_shape const shape = value ? image_of(value.view().shape) : image_shape{};
        if (shape.width == 0) { continue; }
        std::vector<double> const pixels = row_major_values(value.view());
        std::size_t const size = shape.width * shape.height * shape.channels;
        for (mistake& each : into.mistakes) {
            if (each.step != step || each.samples * size != pixels.size()) { continue; }
            each.image = draw_sample({pixels.data() + each.sample * size, size}, shape);
        }
        into.drawn_as =
            fmt::format("{}: {} × {}{}", inputs.name, shape.height, shape.width,
                        shape.channels > 1 ? fmt::format(" in {} channels", shape.channels) : std::string{});
    }
}

// The last evaluation, or the latest train steps.
static void judge_mode(run_story const& story, mode in, value_source& from, judged_samples& found) {
    tensor_story const* const labels = kept_of(story, role::label, in);
    tensor_story const* const predictions = kept_of(story, role::prediction, in);
    if (labels == nullptr || predictions == nullptr) { return; }
    auto const& steps = labels->modes[index_of(in)].recent;
    std::vector<mistake> mistakes;
    scored_samples scored;
    std::size_t batches = 0;
    for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
        kept_step const& each = *it;
        bool const enough = in == mode::eval ? each.at != steps.back().at : found.counts.total >= 256;
        if (enough) { break; }
        auto const batch = read_batch(*labels, *predictions, each.step, from);
        if (!batch) { continue; }
        batch->each_known([&](std::size_t i, std::uint32_t label, std::uint32_t said) {
            found.counts.add(label, said);
            if (label == said) { return; }
            mistakes.push_back({label, said, batch->taken.certainty[i], each.step, i, batch->truth.classes.size(), {}});
        });
        scored.add(batch->truth, batch->taken);
        if (++batches == 1) {
            found.from = fmt::format("{} and {} at {}", labels->name, predictions->name, describe(each.step));
        }
    }
    found.rocs = rocs_of(scored, found.counts, story.class_names);
    if (found.counts.total > 0) { read_hits(found.hits, *labels, *predictions, in, from); }
    if (tensor_story const* const inputs = kept_of(story, role::input, in); inputs != nullptr) {
        auto const& kept = inputs->modes[index_of(in)].recent;
        std::erase_if(mistakes, [&](mistake const& it) {
            return std::none_of(kept.begin(), kept.end(), [&](auto const& each) { return each.step == it.step; });
        });
        found.mistakes = choose_mistakes(std::move(mistakes), found.counts);
        draw_mistakes(found, *inputs, from);
    }
    if (batches > 1) { found.from += fmt::format(" and {} before it", plural(batches - 1, "step")); }
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

judged_samples judge_samples(run_story const& story, value_source& from) {
    judged_samples found;
    for (mode const in : {mode::eval, mode::train}) {
        if (found.counts.total == 0) { detail::judge_mode(story, in, from, found); }
    }
    if (found.counts.total > 0) { return found; }
    bool const eval = story.eval_classes.total > 0;
    found.counts = eval ? story.eval_classes : story.train_classes;
    found.hits = eval ? story.eval_hits : story.train_hits;
    found.from = eval ? "what rules saw of the last evaluation" : "what rules saw of all train steps";
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI::html
