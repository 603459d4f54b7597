// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the bodies of api.hpp for runs and curves.
#include "api.hpp"

#include "../arguments.hpp"
#include "../findings.hpp"
#include "../numbers.hpp"
#include "query.hpp"

#include <spotter/workbench/page.hpp>

#include <algorithm>
#include <array>
#include <exception>

namespace spotter_tool::live {

using namespace spotter;

namespace {

// A number with enough digits for a screen.
void put_number(std::string& into, double const& value) {
    if (!is_finite(value)) {
        into += "null";
        return;
    }
    fmt::format_to(std::back_inserter(into), "{:.6g}", value);
}

template <class Each, class Value>
void put_list(std::string& into, std::string_view name, Each const& all, Value const& value) {
    into += fmt::format(",\"{}\":[", name);
    bool first = true;
    for (auto const& each : all) {
        if (!each.seen()) { continue; }
        if (!std::exchange(first, false)) { into += ','; }
        put_number(into, value(each));
    }
    into += ']';
}

// One line of a chart. `lo` and `hi` are the range of neighbouring steps that share a point.
void put_line(std::string& into, live_run const& run, std::uint64_t id, curve_name const& which, curve const& data,
              std::size_t mode, double began) {
    html::series const& its = *data.modes[mode];
    auto const& all = its.buckets();
    into += fmt::format("{{\"run\":{},\"worker\":{},\"mode\":\"{}\",\"n\":{},\"width\":{},\"step\":{},\"last\":", id,
                        which.worker, name_of(static_cast<spotter::mode>(mode)), its.size(),
                        std::uint64_t{1} << its.shift(), data.last_step[mode]);
    put_number(into, its.ends_bad() ? html::series::bucket{}.mean() : its.last_value().value_or(0));
    into += its.ends_bad() ? ",\"ends_bad\":true" : "";
    using bucket = html::series::bucket;
    double const none = bucket{}.mean();  // 0 / 0
    put_list(into, "x", all, [](bucket const& it) { return it.middle(); });
    put_list(into, "y", all, [&](bucket const& it) { return it.count > 0 ? it.mean() : none; });
    if (std::any_of(all.begin(), all.end(), [](bucket const& it) { return it.count > 1; })) {
        put_list(into, "lo", all, [&](bucket const& it) { return it.count > 0 ? it.least : none; });
        put_list(into, "hi", all, [&](bucket const& it) { return it.count > 0 ? it.most : none; });
    }
    if (std::any_of(all.begin(), all.end(), [](bucket const& it) { return it.bad > 0; })) {
        put_list(into, "bad", all, [](bucket const& it) { return static_cast<double>(it.bad); });
    }
    put_list(into, "t", all, [&](bucket const& it) { return run.time_at(which.worker, it.middle()) - began; });
    into += '}';
}

// Which tensors are drawn by default: numbers. 0: a loss, 1: a metric, 2: another number; 3: none.
[[nodiscard]] int kind_of(recorded_tensor const& it) {
    if (it.entries.empty() || it.info.type == dtype::text) { return 3; }
    if (it.info.role == role::loss) { return 0; }
    if (it.info.role == role::metric) { return 1; }
    track_entry const first = *it.entries.begin();
    if (first.loose) { return 3; }
    return first.is_scalar || (it.info.shape.rank == 0 && it.info.type != dtype::none) ? 2 : 3;
}

[[nodiscard]] json tags_of(trial const& run) {
    constexpr std::size_t most = 2000;
    json all = json::array();
    std::set<std::string_view> known;
    for (int const kind : {0, 1, 2}) {
        for (auto const& reader : run.readers()) {
            for (auto const& each : reader->index().tensors()) {
                if (all.size() >= most || kind_of(*each) != kind || !known.insert(each->name).second) { continue; }
                all.push_back({{"name", each->name}, {"kind", kind}, {"worker", reader->number()}});
            }
        }
    }
    return all;
}

[[nodiscard]] json repeated_finding_json(spotter::detail::repeated_finding const& it) {
    json one = finding_json(it.strongest);
    one["text"] = finding_text(it.strongest);
    one["remedy"] = std::string{it.strongest.remedy};
    one["times"] = it.times;
    return one;
}

// The cards of the static page.
[[nodiscard]] json findings_of(trial const& run) {
    constexpr std::size_t most = 200;
    json all = json::array();
    for (html::finding_card const& each : html::finding_cards(run)) {
        if (all.size() >= most) { break; }
        json one = repeated_finding_json(each.head);
        one["behind"] = json_list(each.behind, repeated_finding_json);
        all.push_back(std::move(one));
    }
    return all;
}

[[nodiscard]] json workers_of(trial const& run) {
    return json_list(run.readers(), [](auto const& each) -> json {
        return {{"worker", each->number()},
                {"status", std::string{name_of(each->status())}},
                {"steps", each->index().steps().size()},
                {"age", each->age()}};
    });
}

// The run's tensors, each from the lowest worker that has it.
[[nodiscard]] std::vector<std::pair<recorded_tensor const*, std::uint32_t>> tensors_of(trial const& run) {
    std::vector<std::pair<recorded_tensor const*, std::uint32_t>> all;
    std::set<std::string_view> known;
    for (auto const& reader : run.readers()) {
        for (auto const& each : reader->index().tensors()) {
            if (!each->entries.empty() && known.insert(each->name).second) {
                all.emplace_back(each.get(), reader->number());
            }
        }
    }
    return all;
}

// Which curves are asked for: a number of a tensor, of the lowest worker that has it or of all, and which steps.
struct asked_curves {
    curve_name which{};
    bool all_workers = false;
    std::uint64_t from = 0, to = ~std::uint64_t{0};

    explicit asked_curves(query const& asked)
        : which{text_in(asked, "tag"), text_in(asked, "stat", "mean"), 0},
          all_workers{text_in(asked, "workers") == "all"}, from{number_in(asked, "from", 0)},
          to{number_in(asked, "to", ~std::uint64_t{0})} {}
    [[nodiscard]] bool is_close() const noexcept { return from > 0 || to != ~std::uint64_t{0}; }
    [[nodiscard]] std::vector<std::uint32_t> workers_in(trial const& run, std::string const& name) const {
        std::vector<std::uint32_t> workers;
        for (auto const& reader : run.readers()) {
            recorded_tensor const* const tensor = reader->index().find(name);
            bool const has = tensor != nullptr && !tensor->entries.empty();
            if (has && (all_workers || workers.empty())) { workers.push_back(reader->number()); }
        }
        return workers;
    }
};

// When the first of its workers began; 0: nobody knows.
[[nodiscard]] double begun_at(trial const* run) {
    double began = 0;
    for (std::size_t i = 0; run != nullptr && i < run->readers().size(); ++i) {
        double const its = run->readers()[i]->index().begun_at();
        began = began == 0 || (its > 0 && its < began) ? its : began;
    }
    return began;
}

// Whether the run has tensors, and none of that name.
[[nodiscard]] bool lacks(trial const& run, std::string const& tensor) {
    bool any = false;
    for (auto const& reader : run.readers()) {
        if (reader->index().find(tensor) != nullptr) { return false; }
        any = any || !reader->index().tensors().empty();
    }
    return any;
}

// A line a worker and mode; of what is no close look only what is new to who asks.
void put_lines(std::string& lines, asked_run const& of, asked_curves const& curves, double began) {
    if (of->run() == nullptr) { return; }
    curve_name which = curves.which;
    which.tensor = name_in(*of->run(), curves.which.tensor);
    for (std::uint32_t const worker : curves.workers_in(*of->run(), which.tensor)) {
        which.worker = worker;
        std::optional<curve> part;
        if (curves.is_close()) { part = of->closer(which, curves.from, curves.to); }
        curve const* const data = curves.is_close() ? (part ? &*part : nullptr) : of->curve_of(which);
        if (data == nullptr || (!curves.is_close() && data->version <= of.version())) { continue; }
        for (std::size_t mode = 0; mode < mode_count; ++mode) {
            if (!data->modes[mode] || data->modes[mode]->empty()) { continue; }
            if (!lines.empty()) { lines += ','; }
            put_line(lines, *of.get(), of.id(), which, *data, mode, began);
        }
    }
}

}  // namespace

answer refusal(int status, std::string_view why) { return {status, dump_utf8(json{{"error", std::string{why}}})}; }

answer runs_answer(run_list& runs, query const& asked) { return {200, runs.changes(number_in(asked, "since", 0))}; }

answer run_answer(run_list& runs, query const& asked) {
    asked_run const of{runs, asked};
    if (!of) { return gone(); }
    std::lock_guard const held{of->lock()};
    (void)of->refresh_if_older(0.1);
    std::uint64_t const since = number_in(asked, "since", 0);
    if (of->version() == since) { return {200, R"({"same":true})"}; }
    json made = {{"id", of.id()}, {"name", of.name()}, {"version", of->version()}};
    made["card"] = card_json(card_of(*of.get()));
    made["trouble"] = of->trouble();
    trial const* const run = of->run();
    if (run == nullptr) { return {200, dump_utf8(made)}; }
    made["tags"] = tags_of(*run);
    made["findings"] = findings_of(*run);
    made["could_not_run"] = json::array();
    std::vector<recorded_coverage> const rules = spotter::detail::distinct_rules(run->coverages());
    for (recorded_coverage const& each : rules) {
        if (!each.reason.empty()) { made["could_not_run"].push_back(json::array({each.rule, each.reason})); }
    }
    made["rules"] = rules.size();
    made["workers"] = workers_of(*run);
    made["tensors"] = tensors_of(*run).size();
    made["environment"] = run->environment().substr(0, 4000);
    made["bytes"] = run->totals().bytes;
    return {200, dump_utf8(made)};
}

answer curves_answer(run_list& runs, query const& asked) {
    constexpr std::size_t most_runs = 200;
    asked_curves const curves{asked};
    if (auto const known = read_statistic(curves.which.statistic); !known) {
        return refusal(400, "stat: " + std::string{known.error().what.view()});
    }
    std::string lines, entries;
    std::size_t count = 0, read = 0, lacking = 0;
    auto const range = asked.equal_range("run");
    if (range.first == range.second) { return refusal(400, "run is missing: `runs` lists the ids"); }
    for (auto it = range.first; it != range.second && count < most_runs; ++it, ++count) {
        asked_run const of{runs, it->second};
        if (!entries.empty()) { entries += ','; }
        if (!of) {
            entries += fmt::format("{{\"run\":{},\"gone\":true}}", of.id());
            continue;
        }
        std::lock_guard const held{of->lock()};
        (void)of->refresh_if_older(0.1);
        if (of->run() != nullptr) {
            ++read, lacking += lacks(*of->run(), name_in(*of->run(), curves.which.tensor)) ? 1U : 0U;
        }
        double const began = begun_at(of->run());
        entries += fmt::format("{{\"run\":{},\"version\":{},\"began\":{:.3f}}}", of.id(), of->version(), began);
        put_lines(lines, of, curves, began);
    }
    if (read > 0 && lacking == read) {
        return refusal(400,
                       "tag: no tensor \"" + plain(curves.which.tensor.substr(0, 100)) + "\" in what was asked for");
    }
    return {200, fmt::format("{{\"runs\":[{}],\"lines\":[{}]}}", entries, lines)};
}

answer tensors_answer(run_list& runs, query const& asked) {
    asked_run const of{runs, asked};
    if (!of) { return gone(); }
    std::string const part = text_in(asked, "filter");
    std::uint64_t const first = number_in(asked, "first", 0),
                        count = (std::min)(number_in(asked, "count", 100), std::uint64_t{500});
    std::lock_guard const held{of->lock()};
    (void)of->refresh_if_older(0.1);
    if (of->run() == nullptr) { return refusal(409, of->trouble()); }
    json made = {{"version", of->version()}};
    made["tensors"] = json::array();
    std::uint64_t met = 0;
    for (auto const& [tensor, worker] : tensors_of(*of->run())) {
        if (!part.empty() && tensor->name.find(part) == std::string::npos) { continue; }
        if (met++ < first || met > first + count) { continue; }
        json one = {{"name", tensor->name},
                    {"role", std::string{name_of(tensor->info.role)}},
                    {"type", std::string{name_of(tensor->info.type)}}};
        one["shape"] = shape_json(tensor->info.shape);
        one["observations"] = tensor->entries.size();
        one["worker"] = worker;
        made["tensors"].push_back(std::move(one));
    }
    made["all"] = met;
    return {200, dump_utf8(made)};
}

answer answer_to(run_list& runs, std::string_view what, query const& asked) {
    using ask = answer (*)(run_list&, query const&);
    struct request {
        std::string_view name;
        ask which;
        std::array<std::string_view, 6> parameters;
    };
    constexpr request all[] = {{"runs", runs_answer, {"since"}},
                               {"run", run_answer, {"run", "since"}},
                               {"curves", curves_answer, {"run", "tag", "stat", "workers", "from", "to"}},
                               {"tensors", tensors_answer, {"run", "filter", "first", "count"}},
                               {"tensor", tensor_answer, {"run", "tag"}},
                               {"values", values_answer, {"run", "tag", "step"}},
                               {"picture", picture_answer, {"run", "tag", "step", "n"}},
                               {"section", section_answer, {"run", "id"}}};
    for (request const& each : all) {
        if (each.name != what) { continue; }
        try {
            for (auto const& [name, ignored] : asked) {
                auto const& known = each.parameters;
                if (std::find(known.begin(), known.end(), name) == known.end()) {
                    return refusal(400, "there is no parameter \"" + plain(name.substr(0, 60)) + "\" here");
                }
            }
            return each.which(runs, asked);
        } catch (bad_request const& why) { return refusal(400, plain(why.what())); } catch (std::bad_alloc const&) {
            return refusal(500, "no memory for that: ask for less");
        } catch (std::exception const& why) { return refusal(500, plain(why.what())); }
    }
    return refusal(404, "there is nothing of that name");
}

}  // namespace spotter_tool::live
