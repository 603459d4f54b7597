// SPDX-License-Identifier: Apache-2.0
// Command line, `show`: a tensor at one step, or a statistic of it over time, as numbers, a curve or a histogram.
#include "arguments.hpp"
#include "draw.hpp"
#include "folders.hpp"
#include "nearest.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <spotter/trial.hpp>

namespace spotter_tool {

namespace {

using namespace spotter;

struct shown {
    show_options const& wanted;
    std::string path;
    std::size_t columns;
    json document;
    outcome end{"show"};

    [[nodiscard]] int refuse(error const& why, std::string_view hint = {}) const {
        return end.code(fail(why, wanted.json, "show", path, hint));
    }
    // For something missing at a step: where it exists.
    [[nodiscard]] int refuse_at(step_id step, error const& why, std::string_view what,
                                std::vector<step_id> const& instead) const {
        bool const is_absent = exit_of(why.code) == absent;
        return refuse(why, is_absent ? steps_hint(what, instead, step) : std::string{});
    }
};

[[nodiscard]] std::size_t columns() { return static_cast<std::size_t>((std::max)(20, columns_of(STDOUT_FILENO, 80))); }

void put_distribution(json& document, distribution const& it) {
    if (it.has_histogram) {
        document["low"] = number(it.low);
        document["high"] = number(it.high);
        document["bins"] = it.bins;
    }
    if (it.has_quantiles) {
        json quantiles = json::array();
        for (std::size_t i = 0; i < it.quantiles.size(); ++i) {
            quantiles.push_back({{"level", quantile_levels[i] / 1000.0}, {"value", number(it.quantiles[i])}});
        }
        document["quantiles"] = std::move(quantiles);
    }
}

// One step.

[[nodiscard]] int show_statistic(shown& it, track const& tensor, step_id step) {
    if (!it.wanted.as.empty() && it.wanted.as != "numbers") {
        return it.refuse({errc::bad_config, "a statistic at one step is one number: leave out --as, --stat or --step"});
    }
    auto const which = read_statistic(it.wanted.stat);
    if (!which) { return it.refuse(which.error()); }
    auto const value = tensor.stat(step, *which);
    if (!value) {
        std::vector<step_id> known;
        for (point const& each : tensor.history(*which)) {
            if (each.known) { known.push_back(each.step); }
        }
        return it.refuse_at(step, value.error(), it.wanted.stat, known);
    }
    if (it.wanted.json) {
        it.document["statistic"] = it.wanted.stat;
        it.document["value"] = number(*value);
        say_document(it.document);
    } else {
        say(exact_text(tensor.info().type, *value) + '\n');
    }
    return it.end.code();
}

[[nodiscard]] int show_distribution(shown& it, track const& tensor, step_id step) {
    auto found = tensor.distribution(step);
    // If only one of the two was kept, shows that one.
    if (!found) {
        for (stats_mask const part : {stats_mask::histogram, stats_mask::quantiles}) {
            if (auto const half = tensor.distribution(step, part); half) { found = *half; }
        }
    }
    if (!found) { return it.refuse_at(step, found.error(), "something", tensor.steps()); }
    if (it.wanted.json) {
        put_distribution(it.document, *found);
        say_document(it.document);
        return it.end.code();
    }
    say(fmt::format("{} at {}\n", plain(it.wanted.name), step_text(step)));
    if (found->has_histogram) { say(histogram_text(*found, it.columns, it.wanted.ascii)); }
    if (found->has_quantiles) { say(quantiles_text(*found) + '\n'); }
    return it.end.code();
}

void put_values(json& document, tensor_ref const& view) {
    document["type"] = std::string{name_of(view.type)};
    document["order"] = view.layout == order::row_major ? "row_major" : "column_major";
    document["shape"] = shape_json(view.shape);
    if (view.type == dtype::text) {
        document["values"] =
            std::string(static_cast<char const*>(view.values.raw), static_cast<std::size_t>(view.count));
        return;
    }
    document["values"] = json::array();
    visit_values(view, [&](auto values) {
        for_each_place(
            view, [&](std::size_t place, auto const&) { document["values"].push_back(element_json(values[place])); });
    });
}

// The values in row-major order; of complex numbers the real part.
[[nodiscard]] std::vector<double> numbers_of(tensor_ref const& view) {
    std::vector<double> numbers;
    visit_values(view, [&](auto values) {
        for_each_place(view, [&](std::size_t place, auto const&) { numbers.push_back(double_of(values[place])); });
    });
    return numbers;
}

[[nodiscard]] int show_values(shown& it, track const& tensor, step_id step) {
    recorded_value const value = tensor.at(step);
    if (!value) { return it.refuse_at(step, value.error(), "values", tensor.payload_steps()); }
    tensor_ref const& view = value.view();
    if (it.wanted.json) {
        put_values(it.document, view);
        say_document(it.document);
        return it.end.code();
    }
    say(fmt::format("{} at {}: {} {}{}\n", plain(it.wanted.name), step_text(step), name_of(view.type),
                    shape_text(view.shape),
                    view.layout == order::column_major && view.shape.rank > 1 ? ", recorded by columns" : ""));
    if (view.type == dtype::text) {
        say(plain({static_cast<char const*>(view.values.raw), static_cast<std::size_t>(view.count)}) + '\n');
    } else if (it.wanted.as == "sparkline") {
        std::vector<double> const numbers = numbers_of(view);
        say(sparkline(numbers, std::vector<bool>(numbers.size(), true), it.columns, it.wanted.ascii) + '\n');
    } else {
        say(tensor_text(view, it.wanted.all));
    }
    return it.end.code();
}

// Over time.

struct curve {
    statistic which = mean;
    std::vector<point> points{};
    std::size_t known = 0;
    std::size_t unreadable = 0;
};

// The selected points of a history.
struct chosen_points {
    std::optional<mode> only{};
    std::optional<step_range> range{};

    [[nodiscard]] bool has(step_id step) const {
        return (!only || step.mode == *only) && (!range || range->holds(step));
    }
};

[[nodiscard]] curve history_of(track const& tensor, statistic which, chosen_points const& wanted) {
    curve it{which, tensor.history(which)};
    std::erase_if(it.points, [&](point const& each) { return !wanted.has(each.step); });
    for (point const& each : it.points) {
        it.known += each.known ? 1U : 0U, it.unreadable += each.unreadable ? 1U : 0U;
    }
    return it;
}

// The requested statistic, or the first of the usual ones that is known somewhere.
[[nodiscard]] result<curve> choose_curve(track const& tensor, std::string const& stat, chosen_points const& only) {
    if (!stat.empty()) {
        auto const which = read_statistic(stat);
        if (!which) { return which.error(); }
        return history_of(tensor, *which, only);
    }
    curve first = history_of(tensor, mean, only);
    if (first.known > 0) { return first; }
    for (statistic const which : std::initializer_list<statistic>{l2, mean_abs, maximum, of_abs(maximum), minimum,
                                                                  stddev, zero_fraction, nonfinite}) {
        curve it = history_of(tensor, which, only);
        if (it.known > 0) { return it; }
    }
    return first;
}

void print_points(dtype type, curve const& it) {
    for (point const& each : it.points) {
        std::string const word = each.unreadable ? "unreadable" : "unknown";
        say(fmt::format("{}\t{}\n", step_text(each.step), each.known ? exact_text(type, each.value) : word));
    }
}

// One for each mode, so that no curve mixes train and eval.
[[nodiscard]] std::vector<curve> curves_by_mode(curve const& of) {
    std::vector<curve> all;
    for (mode const each : {mode::train, mode::eval, mode::predict}) {
        curve one{of.which};
        for (point const& at : of.points) {
            if (at.step.mode != each) { continue; }
            one.points.push_back(at);
            one.known += at.known ? 1U : 0U, one.unreadable += at.unreadable ? 1U : 0U;
        }
        if (!one.points.empty()) { all.push_back(std::move(one)); }
    }
    if (all.empty()) { all.push_back(of); }
    return all;
}

[[nodiscard]] distribution spread_of(curve const& of) {
    std::vector<double> values;
    for (point const& each : of.points) {
        if (each.known) { values.push_back(each.value); }
    }
    std::vector<std::uint64_t> scratch(values.size());
    return distribution_of(view_of(values.data(), {values.size()}), distribution_terms, scratch);
}

void print_curve(shown const& it, curve const& of) {
    std::vector<double> values;
    std::vector<bool> known;
    point const* least = nullptr;
    point const* most = nullptr;
    point const* first = nullptr;
    point const* last = nullptr;
    for (point const& each : of.points) {
        values.push_back(each.value);
        known.push_back(each.known);
        if (!each.known) { continue; }
        first = first == nullptr ? &each : first;
        last = &each;
        if (!is_finite(each.value)) { continue; }
        if (least == nullptr || each.value < least->value) { least = &each; }
        if (most == nullptr || each.value > most->value) { most = &each; }
    }
    say(sparkline(values, known, it.columns, it.wanted.ascii) + '\n');
    std::string line = plural(of.points.size(), "point");
    std::size_t const unknown = of.points.size() - of.known - of.unreadable;
    if (unknown > 0) { line += fmt::format(", {} unknown", unknown); }
    if (of.unreadable > 0) { line += fmt::format(", {} cannot be read", of.unreadable); }
    auto const add = [&](std::string_view what, point const* at) {
        if (at != nullptr) {
            line += fmt::format("; {} {} at {}", what, detail::float_text(at->value, false), step_text(at->step));
        }
    };
    add("first", first), add("last", last), add("least", least), add("most", most);
    say(line + '\n');
}

// Which points are wanted, or the exit code of why there are none.
[[nodiscard]] std::optional<int> choose_points(shown& it, track const& tensor, chosen_points& into) {
    if (error const why = read_given(it.wanted.mode, read_mode, into.only)) { return it.refuse(why); }
    if (it.wanted.step.empty()) { return {}; }
    auto const range = read_range(it.wanted.step);
    if (!range) { return it.refuse(range.error()); }
    into.range = *range;
    std::vector<step_id> const all = tensor.steps();
    if (std::any_of(all.begin(), all.end(), [&](step_id each) { return into.has(each); })) { return {}; }
    return it.refuse_at({range->mode, range->first},
                        error_of(errc::no_such_step, "\"", std::string_view{it.wanted.name}.substr(0, 100),
                                 "\" has no step in ", std::string_view{it.wanted.step}.substr(0, 60)),
                        "something", all);
}

// A part for each mode. `spreads`: of each part, where a histogram is wanted.
void put_history(json& document, curve const& of, std::vector<curve> const& parts,
                 std::vector<distribution> const& spreads) {
    document["statistic"] = std::string{of.which.name()};
    document["points"] = json_list(of.points, [](point const& each) {
        json one = step_json(each.step);
        one["value"] = each.known ? number(each.value) : json();
        if (each.unreadable) { one["unreadable"] = true; }
        return one;
    });
    for (std::size_t i = 0; i < spreads.size(); ++i) {
        json one = {{"mode", std::string{name_of(parts[i].points.front().step.mode)}}};
        put_distribution(one, spreads[i]);
        document["histograms"].push_back(std::move(one));
    }
}
void print_history(shown const& it, curve const& of, std::vector<curve> const& parts,
                   std::vector<distribution> const& spreads) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::string const in =
            parts.size() > 1 ? fmt::format(" in {}", name_of(parts[i].points.front().step.mode)) : "";
        say(fmt::format("{} of {}{}\n", of.which.name(), plain(it.wanted.name), in));
        if (spreads.empty()) {
            print_curve(it, parts[i]);
        } else if (spreads[i].has_histogram) {
            say(histogram_text(spreads[i], it.columns, it.wanted.ascii) + quantiles_text(spreads[i]) + '\n');
        } else {
            say("no point of it is a finite number\n");
        }
    }
}

// What could not be shown, on standard error.
[[nodiscard]] int end_of_history(shown& it, track const& tensor, curve const& of) {
    if (of.unreadable > 0) {
        it.end.note(something_lost);
        auto const first =
            std::find_if(of.points.begin(), of.points.end(), [](point const& each) { return each.unreadable; });
        say(fmt::format(
                "spotter show: {} of {} of {} cannot be read, first {}: `spotter verify` says what is damaged\n",
                of.unreadable, plural(of.points.size(), "point"), plain(it.wanted.name), step_text(first->step)),
            stderr);
    }
    if (of.known > 0 || of.points.empty()) { return it.end.code(); }
    // The requested statistic is unknown everywhere: the error of a read names what exists instead.
    auto const why = tensor.stat(of.points.front().step, of.which);
    say(fmt::format("spotter show: {} of {} is unknown everywhere: {}\n", of.which.name(), plain(it.wanted.name),
                    why ? std::string{} : plain(why.error().what.view())),
        stderr);
    return it.end.code(absent);
}

// A text has no statistics: each text with its step.
[[nodiscard]] int show_texts(shown& it, track const& tensor, chosen_points const& wanted) {
    json texts = json::array();
    for (step_id const step : tensor.payload_steps()) {
        if (!wanted.has(step)) { continue; }
        auto const text = tensor.at(step).to<std::string>();
        if (!text) { return it.refuse_at(step, text.error(), "values", tensor.payload_steps()); }
        json one = step_json(step);
        one["text"] = *text;
        texts.push_back(std::move(one));
        if (!it.wanted.json) { say(fmt::format("{}\t{}\n", step_text(step), plain(*text))); }
    }
    if (it.wanted.json) {
        it.document["texts"] = std::move(texts);
        say_document(it.document);
    }
    return it.end.code();
}

[[nodiscard]] int show_history(shown& it, track const& tensor) {
    chosen_points wanted;
    if (auto const none = choose_points(it, tensor, wanted)) { return *none; }
    if (tensor.info().type == dtype::text && it.wanted.stat.empty()) { return show_texts(it, tensor, wanted); }
    auto const of = choose_curve(tensor, it.wanted.stat, wanted);
    if (!of) { return it.refuse(of.error()); }
    std::vector<curve> const parts = curves_by_mode(*of);
    std::vector<distribution> spreads;
    if (it.wanted.as == "histogram") {
        for (curve const& each : parts) { spreads.push_back(spread_of(each)); }
        if (std::none_of(spreads.begin(), spreads.end(), [](auto const& each) { return each.has_histogram; })) {
            return it.refuse({errc::not_in_step, "no point of this history is a finite number"});
        }
    }
    if (it.wanted.json) {
        put_history(it.document, *of, parts, spreads);
        say_document(it.document);
    } else if (it.wanted.as == "numbers") {
        print_points(tensor.info().type, *of);
    } else {
        print_history(it, *of, parts, spreads);
    }
    return end_of_history(it, tensor, *of);
}

// Scalars that were recorded between steps, by their time: a number with all its digits, or a text.
[[nodiscard]] json loose_json(loose_scalar const& it) {
    if (it.type == dtype::i64) { return it.to<std::int64_t>().value_or(0); }
    if (it.type == dtype::u64) { return it.to<std::uint64_t>().value_or(0); }
    return it.type == dtype::text ? json(it.bytes) : number(it.value);
}
[[nodiscard]] std::string loose_text(loose_scalar const& it) {
    if (it.type == dtype::text) { return plain(it.bytes); }
    json const exact = loose_json(it);
    return exact.is_number_integer() ? exact.dump() : detail::float_text(it.value, true);
}
[[nodiscard]] int show_loose(shown& it, std::vector<loose_scalar> const& scalars) {
    if (it.wanted.json) {
        it.document["loose"] = json_list(scalars, [](loose_scalar const& each) -> json {
            return {{"time", number(each.time)}, {"value", loose_json(each)}, {"before_ordinal", each.before_ordinal}};
        });
        say_document(it.document);
        return it.end.code();
    }
    bool const texts =
        std::any_of(scalars.begin(), scalars.end(), [](loose_scalar const& each) { return each.type == dtype::text; });
    if (it.wanted.as == "numbers" || texts) {
        for (loose_scalar const& each : scalars) { say(fmt::format("{:.3f}\t{}\n", each.time, loose_text(each))); }
        return it.end.code();
    }
    std::vector<double> values;
    for (loose_scalar const& each : scalars) { values.push_back(each.value); }
    say(fmt::format("{}, given between steps\n", plain(it.wanted.name)));
    say(sparkline(values, std::vector<bool>(values.size(), true), it.columns, it.wanted.ascii) + '\n');
    say(fmt::format("{}; first {}; last {}\n", plural(values.size(), "scalar"),
                    detail::float_text(values.front(), false), detail::float_text(values.back(), false)));
    return it.end.code();
}

}  // namespace

int show(show_options const& wanted) {
    shown it{wanted, tidy(wanted.path), columns(), document_of("show", tidy(wanted.path)), outcome{"show"}};
    std::vector<recording> all;
    if (error const why = find_recordings(it.path, all)) { return it.refuse(why); }
    auto const run = open_trial(it.path);
    if (!run) { return it.refuse(run.error()); }
    progress bar{"show", {bytes_of(all)}};
    counted_reading const counting{*run, bar, reading::all};
    it.document["loss"] = it.end.look_at(*run);
    track const tensor = (*run)[wanted.name];
    if (!tensor) {
        return it.refuse(error_of(errc::no_such_name, "there is no \"", std::string_view{wanted.name}.substr(0, 100),
                                  "\" in this run: `spotter ls ", std::string_view{it.path}.substr(0, 100),
                                  "` lists what there is"),
                         name_hint(wanted.name, run->names()));
    }
    it.document["name"] = wanted.name;
    if (is_range(wanted.step)) { return show_history(it, tensor); }
    if (wanted.step.empty()) {
        std::vector<loose_scalar> const loose = tensor.loose();
        return loose.empty() || !tensor.history(mean).empty() ? show_history(it, tensor) : show_loose(it, loose);
    }
    auto const step = read_step(wanted.step);
    if (!step) { return it.refuse(step.error()); }
    it.document["step"] = step_json(*step);
    if (!wanted.stat.empty()) { return show_statistic(it, tensor, *step); }
    return wanted.as == "histogram" ? show_distribution(it, tensor, *step) : show_values(it, tensor, *step);
}

}  // namespace spotter_tool
