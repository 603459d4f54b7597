// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of run_reader.hpp.
#include "page/run_reader.hpp"

#include "page/text.hpp"
#include "page/workers.hpp"

#include <spotter/judge/added_findings.hpp>
#include <spotter/stat/lanes.hpp>
#include <spotter/stat/summarize.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

namespace spotter::inline SPOTTER_ABI::html {

run_reader::run_reader(worker_reader const& from, run_story& into) : from_{from}, story_{into} {
    tensors_.reserve(from.index().tensors().size());
    for (auto const& each : from.index().tensors()) {
        tensors_.emplace_back().name = each->name;
        tensors_.back().info = each->info;
    }
    blamed_.resize(tensors_.size());
    for (worker_times& each : into.drawn) { own_ = each.worker == from.number() ? &each : own_; }
    std::size_t count = 0;
    for (evidence& each : into.findings) {
        finding const& it = each.what.strongest;
        each.at = it.worker == from.number() ? it.step.index : each.at;
        if (it.worker != from.number() || ++count > most_evidence) { continue; }
        if (it.step.mode != mode::train) { unplaced_.push_back(&each); }
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            if (tensors_[i].name == it.tensor) { blamed_[i].push_back(&each); }
        }
    }
}

std::vector<tensor_story> run_reader::read() {
    recorded_events{from_.index()}.advance(recorded_sink{
        [this](rows::run_begin const& it) { take_begin(it); },
        [this](recorded_observation const& it) { take_observation(it); },
        [this](recorded_scalar const& it) { take_scalar(it); },
        [this](recorded_feature const& it) { take_feature(it); }, [this](rows::close const& it) { take_close(it); }});
    return std::move(tensors_);
}

void run_reader::take_begin(rows::run_begin const& it) {
    if (std::exchange(attempt_, it.attempt) == it.attempt) { return; }  // each segment repeats it
    counted_ = 0;
    if (story_.began == 0 || it.time < story_.began) { story_.began = it.time; }
    story_.version = it.version;
}

void run_reader::take_close(rows::close const& it) {
    std::size_t const which = index_of(it.step.mode);
    ++story_.closes[which];
    story_.last_step[which] = (std::max)(story_.last_step[which], it.step.index);
    auto const timing = from_.index().times().find(it.step, it.ordinal, from_.number());
    if (timing && !timing->first) { story_.times[which].add(place_of(it.step), timing->seconds); }
    if (timing && own_ != nullptr && it.step.mode == mode::train) { own_->own.add(it.step.index, timing->inside); }
    ++counted_;
    story_.last_close = (std::max)(story_.last_close, timing ? timing->closed : it.time);
    for (evidence* const each : unplaced_) {
        if (each->what.strongest.step == it.step) { each->at = place_of(it.step); }
    }
    pair_classes(it.step);
    if (it.step.mode == mode::train) { last_train_ = it.step.index, has_train_ = true; }
    mode_before_ = it.step.mode;
}

std::uint64_t run_reader::place_of(step_id step) const noexcept {
    return step.mode == mode::train || !has_train_ ? step.index : last_train_;
}

tensor_story* run_reader::story_of(tensor_id id) noexcept { return id < tensors_.size() ? &tensors_[id] : nullptr; }

void run_reader::take_observation(recorded_observation const& from) {
    tensor_story* const tensor = story_of(from.id);
    if (tensor == nullptr) { return; }
    rows::observe const& it = from.row;
    summary stats = from.stats;
    mode_story& mine = tensor->modes[index_of(it.step.mode)];
    std::uint64_t const at = place_of(it.step);
    ++mine.observations;
    bool const look = !has(stats.has, stats_mask::sum) && it.has_values && is_number(tensor->info);
    if (look && !add_value(from, stats)) { ++mine.unreadable; }
    add_statistics(mine, at, stats);
    double const idle = share_of_idle(it);
    if (idle >= 0) { mine.idle.add(at, idle); }
    kept_step const here{it.step, at};
    if (it.bins == histogram_bins) { mine.spreads.add({here, stored_distribution(it)}); }
    if (it.has_values) {
        mine.kept.add(here);
        spotter::role const what = tensor->info.role;
        if (what == role::input || what == role::label || what == role::prediction) {
            mine.recent.push_back(here);
            if (mine.recent.size() > most_recent) { mine.recent.pop_front(); }
        }
    }
    for (evidence* const each : blamed_[static_cast<std::size_t>(tensor - tensors_.data())]) {
        witness(*each, it.step, stats, idle);
    }
}

bool run_reader::is_number(tensor_info const& it) noexcept {
    return it.role == role::loss || it.role == role::metric || it.shape.rank == 0;
}

bool run_reader::add_value(recorded_observation const& it, summary& stats) {
    constexpr std::uint64_t most_bytes = 64U << 10;
    from_.index().guard(it.segment);
    tensor_ref view{};
    view.type = it.row.type;
    view.count = it.row.shape.elements();
    if (view.bytes() > most_bytes) { return true; }
    // A damaged value is a gap.
    if (read_values(from_.index(), it.segment, it.row, unpacker_, values_, view)) { return false; }
    summary const made = summarize(view, stats_mask::sum);
    stats.has |= stats_mask::nonfinite | stats_mask::sum;
    stats.count = made.count, stats.sum = made.sum;
    stats.nan = made.nan, stats.pos_inf = made.pos_inf, stats.neg_inf = made.neg_inf;
    return true;
}

void run_reader::add_statistics(mode_story& mine, std::uint64_t at, summary const& stats) {
    bool const bad = has(stats.has, stats_mask::nonfinite) && stats.nonfinite() > 0;
    auto const add = [&](series& to, measurement const& it) {
        if (it.known) { to.add(at, it.value); }
        if (bad) { to.add_bad(at); }
    };
    add(mine.value, mean(stats));
    add(mine.mean_abs, spotter::mean_abs(stats));
    if (measurement norm = l2(stats); norm.known && stats.finite() > 0) {
        norm.value /= std::sqrt(static_cast<double>(stats.finite()));
        add(mine.root_mean_square, norm);
    }
    if (has(stats.has, stats_mask::change) && stats.has_previous && stats.previous_sum_squares > 0) {
        mine.change.add(at, std::sqrt(stats.delta_sum_squares / stats.previous_sum_squares));
    }
    if (measurement const share = zero_fraction(stats); share.known) { mine.zeros.add(at, share.value); }
    if (measurement const last = maximum(stats); last.known) { mine.most.add(at, last.value); }
}

double run_reader::share_of_idle(rows::observe const& it) noexcept {
    if (it.units == 0) { return -1; }
    std::uint64_t idle = 0;
    for (std::uint64_t i = 0; i < it.units; ++i) {
        idle += load<std::uint32_t>(it.active.data() + 4 * i) == 0 ? 1U : 0U;
    }
    return static_cast<double>(idle) / static_cast<double>(it.units);
}

void run_reader::witness(evidence& of, step_id step, summary const& stats, double idle) {
    finding const& it = of.what.strongest;
    if (step.mode != it.step.mode || of.after_it > evidence::after) { return; }
    of.after_it += step.index > it.step.index ? 1 : 0;
    of.moments.push_back({step.index, stats, idle});
    if (of.moments.size() > evidence::before + of.after_it) { of.moments.pop_front(); }
}

// With all digits that distinguish it from adjacent values of the same type.
template <class Value>
[[nodiscard]] std::string exact_text(Value const& value, seen_element const& seen) {
    if (seen.kind == number_class::nan) { return "nan"; }
    if (seen.kind >= number_class::pos_inf) { return seen.kind == number_class::pos_inf ? "inf" : "-inf"; }
    if constexpr (std::is_arithmetic_v<Value>) {
        return fmt::format("{}", value);
    } else {
        return fmt::format("{}", seen.value);
    }
}

void run_reader::take_scalar(recorded_scalar const& from) {
    tensor_story* const tensor = story_of(from.id);
    if (tensor == nullptr) { return; }
    rows::scalar const& it = from.row;
    if (it.type == dtype::text) { return take_text(*tensor, it); }
    alignas(16) std::byte element[16]{};
    std::memcpy(element, it.value.data(), (std::min)(it.value.size(), sizeof element));
    tensor_ref view{};
    view.values.raw = element;
    view.type = it.type;
    view.count = 1;
    mode_story& mine = tensor->modes[it.has_step ? index_of(it.step.mode) : 0];
    std::uint64_t const at = it.has_step ? place_of(it.step) : last_train_ + (has_train_ ? 1 : 0);
    visit_values(view, [&](auto values) {
        seen_element const seen = spotter::detail::see(values[0]);
        if (is_setting(*tensor, it)) { tensor->setting = exact_text(values[0], seen); }
        if (seen.kind >= number_class::pos_inf) { return mine.value.add_bad(at); }
        tensor->number = seen.value;
        tensor->has_number = true;
        mine.value.add(at, seen.value);
    });
    ++mine.observations;
    if (auto const& blamed = blamed_[static_cast<std::size_t>(tensor - tensors_.data())]; !blamed.empty()) {
        summary const stats = summarize(view, pass_terms);
        for (evidence* const each : blamed) {
            if (it.has_step) { witness(*each, it.step, stats, -1); }
        }
    }
}

void run_reader::take_text(tensor_story& tensor, rows::scalar const& it) {
    constexpr std::size_t longest = 200;
    std::string_view const whole{reinterpret_cast<char const*>(it.value.data()), it.value.size()};
    if (tensor.name == "class_names") {
        story_.class_names = lines_of(whole);
        tensor.text = plural(story_.class_names.size(), "name");
    } else {
        tensor.text = whole.substr(0, longest);
        if (is_setting(tensor, it)) { tensor.setting = tensor.text; }
    }
}

bool run_reader::is_setting(tensor_story const& tensor, rows::scalar const& it) const noexcept {
    bool const is_examination = tensor.name.starts_with(examination_event);  // has its own section
    return !it.has_step && !is_examination && counted_ == 0 && tensor.info.role != role::loss &&
           tensor.info.role != role::metric;
}

void run_reader::take_feature(recorded_feature const& it) {
    bool const classes = it.row.key == classes_key || it.row.key == label_rows_key;
    tensor_story* const tensor = classes ? story_of(it.id) : nullptr;
    if (tensor == nullptr) { return; }
    bool const label = tensor->info.role == role::label;
    if (!label && tensor->info.role != role::prediction) { return; }
    std::vector<double> numbers;
    each_number(it.row, [&](double const& number) { numbers.push_back(number); });
    (label ? labels_ : said_).add(sampled_classes::read(numbers));
}

void run_reader::pair_classes(step_id step) {
    mode const which = step.mode;
    if (which == mode::eval && mode_before_ != mode::eval) { story_.eval_classes = {}; }
    if (which == mode::train) {
        for (class_list::entry const& each : labels_.all()) {
            if (each.which != no_class) { ++story_.train_labels[each.which]; }
        }
    }
    // Large batches are sampled, perhaps at different positions for labels and predictions.
    class_counts& into = which == mode::eval ? story_.eval_classes : story_.train_classes;
    std::span<class_list::entry const> said = said_.all();
    for (class_list::entry const& label : labels_.all()) {
        while (!said.empty() && said.front().place < label.place) { said = said.subspan(1); }
        if (said.empty()) { break; }
        bool const both =
            said.front().place == label.place && label.which != no_class && said.front().which != no_class;
        if (!both) { continue; }
        into.add(label.which, said.front().which);
        (which == mode::eval ? story_.eval_hits : story_.train_hits)
            .add(place_of(step), label.which, label.which == said.front().which);
    }
    labels_.clear();
    said_.clear();
}

// One worker's findings are in the order of time; those of several are sorted by their steps' closes.
static void put_in_order(trial const& run, std::vector<spotter::detail::repeated_finding>& all) {
    if (run.readers().size() < 2) { return; }
    std::map<std::pair<std::uint32_t, step_id>, double> closed;
    for (auto const& each : all) { closed[{each.first.worker, each.first.step}] = 0; }
    for (auto const& reader : run.readers()) {
        for (closed_step const& each : reader->index().steps()) {
            auto const wanted = closed.find({reader->number(), each.step});
            if (wanted != closed.end() && wanted->second == 0) { wanted->second = each.time; }
        }
    }
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < all.size(); ++i) {
        order.emplace_back(closed.at({all[i].first.worker, all[i].first.step}), i);
    }
    std::sort(order.begin(), order.end());
    std::vector<spotter::detail::repeated_finding> sorted;
    for (auto const& [time, which] : order) { sorted.push_back(std::move(all[which])); }
    all = std::move(sorted);
}

std::vector<evidence> gather_evidence(trial const& run, std::vector<finding> const& findings) {
    auto all = spotter::detail::gather_findings(findings);
    put_in_order(run, all);
    std::vector<evidence> found;
    std::map<spotter::detail::finding_key, std::size_t> places;
    for (severity const level : {severity::error, severity::warning, severity::info}) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].strongest.severity != level) { continue; }
            places[spotter::detail::key_of(all[i].first)] = found.size();
            evidence& one = found.emplace_back();
            one.what = all[i];
            one.order = i;
        }
    }
    for (finding const& each : findings) {
        evidence& one = found[places.at(spotter::detail::key_of(each))];
        bool const same = each.worker == one.what.strongest.worker && each.step.mode == one.what.strongest.step.mode;
        if (same && !each.measure.empty()) { one.reported.add(each.step.index, each.measured); }
    }
    return found;
}

[[nodiscard]] static bool is_drawn(run_story const& story, std::uint32_t worker) {
    return std::any_of(story.drawn.begin(), story.drawn.end(),
                       [&](worker_times const& each) { return each.worker == worker; });
}

// An observed loss or metric.
[[nodiscard]] static bool is_judged(tensor_story const& it) {
    return (it.info.role == role::loss || it.info.role == role::metric) && it.observations() > 0;
}

run_story read_story(trial const& run, judgement const* anew) {
    run_story story;
    story.run = &run;
    std::string_view const path = run.path();
    story.name = path.substr(path.rfind('/') + 1);
    story.anew = anew;
    story.findings = gather_evidence(run, story.found());
    if (run.readers().size() > 1) { story.ranks = ranks_of(run), story.drawn = drawn_workers(story.ranks); }
    std::map<std::string, std::size_t, std::less<>> places;
    for (auto const& each : run.readers()) {
        for (tensor_story& tensor : run_reader{*each, story}.read()) {
            auto const [place, fresh] = places.try_emplace(tensor.name, story.tensors.size());
            if (fresh) { story.tensors.emplace_back(); }
            tensor_story& into = story.tensors[place->second];
            std::vector<worker_curves> workers = std::move(into.workers);
            if (is_drawn(story, each->number()) && is_judged(tensor)) {
                worker_curves& mine = workers.emplace_back();
                mine.worker = each->number();
                for (std::size_t k = 0; k < mode_count; ++k) { mine.value[k] = std::as_const(tensor).modes[k].value; }
            }
            if (fresh || into.observations() == 0) { into = std::move(tensor); }
            into.workers = std::move(workers);
        }
    }
    return story;
}

}  // namespace spotter::inline SPOTTER_ABI::html
