// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of evidence_chart.hpp.
#include "page/evidence_chart.hpp"

#include <spotter/core/evaluation_name.hpp>
#include <spotter/rule/builtin/tree_depth.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spotter::inline SPOTTER_ABI::html::detail {

[[nodiscard]] static measurement read_change(evidence::moment const& it, statistic) {
    bool const known =
        has(it.stats.has, stats_mask::change) && it.stats.has_previous && it.stats.previous_sum_squares > 0;
    return known ? measurement{std::sqrt(it.stats.delta_sum_squares / it.stats.previous_sum_squares), true}
                 : measurement{};
}

[[nodiscard]] static measurement read_unchanged(evidence::moment const& it, statistic) {
    bool const known = has(it.stats.has, stats_mask::change) && it.stats.has_previous && it.stats.count > 0;
    return known ? measurement{1 - static_cast<double>(it.stats.changed) / static_cast<double>(it.stats.count), true}
                 : measurement{};
}

[[nodiscard]] static measurement read_depth(evidence::moment const& it, statistic) {
    return tree_depth::depth_of(it.stats);
}

std::vector<reading> readings_for(finding const& it) {
    std::vector<reading> all;
    for (int id = 0; id <= static_cast<int>(statistic_id::neg_inf); ++id) {
        for (bool const abs : {false, true}) {
            statistic const each{static_cast<statistic_id>(id), abs};
            if (each.name() == it.measure) { all.push_back({std::string{each.name()}, &read_statistic, each, true}); }
        }
    }
    if (it.measure.starts_with("non-finite")) {
        all.push_back({"non-finite elements", &read_statistic, nonfinite, true});
    }
    if (it.measure == "depth") { all.push_back({"depth", &read_depth, mean, true}); }
    if (it.measure == "update ratio") { all.push_back({"update ratio", &read_change, mean, true}); }
    if (it.measure == "share of unchanged elements") {
        all.push_back({"share of unchanged elements", &read_unchanged, mean, true});
    }
    if (it.measure.find("units") != it.measure.npos) {
        all.push_back({"share of idle units", &read_idle, mean, false});
    }
    for (statistic const each :
         std::initializer_list<statistic>{mean_abs, l2, of_abs(maximum), stddev, mean, zero_fraction, nonfinite}) {
        all.push_back({std::string{each.name()}, &read_statistic, each, false});
    }
    return all;
}

// Numbers that are names: a mean or a norm of them says nothing.
[[nodiscard]] static bool is_of_labels(run_story const& story, std::string_view name) {
    return std::any_of(story.tensors.begin(), story.tensors.end(),
                       [&](tensor_story const& each) { return each.name == name && each.info.role == role::label; });
}

std::vector<reading> readings_for(evidence const& of) {
    bool const scalar =
        std::all_of(of.moments.begin(), of.moments.end(), [](auto const& each) { return each.stats.count == 1; });
    finding const& it = of.what.strongest;
    if (!scalar) { return readings_for(it); }
    std::vector<reading> all;
    bool const is_value = it.measure == "mean" || it.measure == "minimum" || it.measure == "maximum";
    if (!is_value && !it.measure.starts_with("non-finite")) {
        for (reading const& each : readings_for(it)) {
            if (each.exact && each.which != nonfinite) { all.push_back(each); }
        }
    }
    all.push_back({"value", &read_statistic, mean, is_value});
    all.push_back({"non-finite elements", &read_statistic, nonfinite, false});
    return all;
}

std::string draw_reported(evidence const& of) {
    finding const& it = of.what.strongest;
    series::bucket const all = of.reported.whole();
    if (all.count < 2 || it.measure.starts_with("non-finite")) { return {}; }
    chart picture{.title = it.tensor.empty() ? std::string{it.measure} : fmt::format("{} of {}", it.measure, it.tensor),
                  .note = "as the rule measured it, each time that it was reported",
                  .lines = {{&of.reported}},
                  .step_name = fmt::format("{} step", name_of(it.step.mode))};
    if (it.how != relation::none) { picture.threshold = it.threshold; }
    return draw(picture);
}

// The curve of a tensor in a worker and a mode.
[[nodiscard]] static series const* curve_of(tensor_story const& tensor, std::uint32_t worker, mode which) {
    for (worker_curves const& each : tensor.workers) {
        if (each.worker == worker) { return &each.value[index_of(which)]; }
    }
    return &tensor.modes[index_of(which)].value;
}

// For rules that compare the evaluation loss with the training loss; empty where one of them is unknown. The evaluation
// loss may have a name of its own.
[[nodiscard]] static std::vector<line> training_and_evaluation(run_story const& story, finding const& it) {
    if (it.measure != "relative gap of the losses" && it.measure != "phases since the best eval loss") { return {}; }
    std::vector<line> lines;
    for (tensor_story const& each : story.tensors) {
        if (each.name != it.tensor) { continue; }
        lines.push_back({curve_of(each, it.worker, mode::train), "train", 0});
        lines.push_back({curve_of(each, it.worker, mode::eval), "eval", 1});
    }
    for (tensor_story const& each : story.tensors) {
        if (lines.empty() || !lines[1].data->empty() || !is_evaluation_of(each.name, it.tensor)) { continue; }
        lines[1] = {curve_of(each, it.worker, static_cast<mode>(each.seen_in())), each.name, 1};
    }
    bool const both = !lines.empty() && !lines[0].data->empty() && !lines[1].data->empty();
    return both ? lines : std::vector<line>{};
}

// What a reading gives over the moments; null where it is known at too few of them, or says nothing.
[[nodiscard]] static std::unique_ptr<series> values_of(evidence const& of, reading const& by) {
    auto data = std::make_unique<series>();
    std::uint64_t known = 0;
    for (evidence::moment const& here : of.moments) {
        measurement const value = by.of(here, by.which);
        if (value.known) { data->add(here.step, value.value), ++known; }
        if (!value.known && here.stats.nonfinite() > 0) { data->add_bad(here.step); }
    }
    bool const says_nothing = !by.exact && by.which == nonfinite && !(data->whole().most > 0);
    if (known < 2 || 2 * known < of.moments.size() || says_nothing) { return nullptr; }
    return data;
}

evidence_chart chart_of(run_story const& story, evidence const& of) {
    finding const& it = of.what.strongest;
    evidence_chart made;
    chart& picture = made.picture;
    std::string const label = fmt::format("{} at {}", it.rule, step_text(it.step));
    if (auto lines = training_and_evaluation(story, it); !lines.empty()) {
        picture.title = fmt::format("{} in training and in evaluation", it.tensor);
        picture.lines = std::move(lines);
        picture.marks.push_back({of.at, it.severity, label});
        picture.step_name = "train step";
        made.whole = true;
        return made;
    }
    if (of.moments.size() < 2) { return made; }
    bool const is_share = it.measure.find("share") != it.measure.npos;
    bool const is_named = is_of_labels(story, it.tensor);
    for (reading const& each : readings_for(of)) {
        // Seconds are not comparable with a share.
        if (!each.exact && (is_named || (is_share && each.name == "value"))) { continue; }
        auto data = values_of(of, each);
        if (data == nullptr) { continue; }
        picture.title = fmt::format("{} of {}", each.name, it.tensor);
        picture.lines.push_back({data.get(), {}, 0});
        picture.marks.push_back({it.step.index, it.severity, label});
        picture.step_name = fmt::format("{} step", name_of(it.step.mode));
        if (it.worker > 0) { picture.note = fmt::format("of worker {}", it.worker); }
        if (each.exact && it.how != relation::none) { picture.threshold = it.threshold; }
        made.own = std::move(data), made.whole = each.exact;
        return made;
    }
    return made;
}

bool holds(evidence_chart const& it, evidence_chart const& other) {
    chart const &mine = it.picture, &its = other.picture;
    if (mine.lines.empty() || its.lines.empty()) { return false; }
    bool const same = mine.title == its.title && mine.step_name == its.step_name && mine.note == its.note;
    extent const around = extent_of(mine);
    return same && around.first <= its.marks.front().step && its.marks.front().step <= around.last;
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail
