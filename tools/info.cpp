// SPDX-License-Identifier: Apache-2.0
// Command line, `info`: the content of a run, how it ended, its disk space, losses and findings.
#include "disk_cost.hpp"
#include "findings.hpp"
#include "folders.hpp"
#include "open_step.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "rules_argument.hpp"
#include "verbs.hpp"
#include "workbench/profile/times.hpp"

#include <spotter/core/sentence.hpp>
#include <spotter/report.hpp>
#include <spotter/report/describe.hpp>
#include <spotter/trial.hpp>
#include <spotter/trial/environment_lines.hpp>

namespace spotter_tool {

namespace {

using namespace spotter;

// How the bytes of a recording are used. Frames are measured, not decompressed.
struct sizes {
    std::uint64_t segments = 0;
    std::uint64_t bytes = 0;     // of the segments
    std::uint64_t sidecars = 0;  // bytes
    std::uint64_t values = 0;    // bytes of compressed values
    std::uint64_t unpacked = 0;  // size before compression
    std::uint64_t rows = 0;      // bytes of row frames
    double began = 0;            // seconds since 1970; 0 where unknown
};

// Values between two row frames.
void measure_values(byte_view bytes, std::uint64_t at, std::uint64_t end, sizes& all) {
    while (at < end) {
        frame_extent const frame = measure_frame(bytes, at);
        if (frame.kind != frame_kind::values) { break; }
        all.values += frame.bytes;
        all.unpacked += frame.content;
        at += frame.bytes;
    }
}

void measure(recording const& it, sizes& all) {
    file_system& files = files_for(it.path);
    for (std::uint32_t const number : it.segments) {
        std::string const file = file_of(it, number, layout::data_suffix);
        ++all.segments;
        all.sidecars += files.size_of(file_of(it, number, layout::side_suffix)).value_or(0);
        if (it.path.starts_with("s3://")) {  // all of it would have to be fetched
            all.bytes += files.size_of(file).value_or(0);
            continue;
        }
        mapped_file const data{file};
        all.bytes += data.bytes().size();
        frame_walker walker{data.bytes()};
        std::uint64_t end = 0;
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::head) {
                double const time = walker.head().time;
                if (time > 0 && (all.began == 0 || time < all.began)) { all.began = time; }
                end = layout::head_bytes;
            } else if (what == walked::rows) {
                measure_values(data.bytes(), end, walker.frame().offset, all);
                all.rows += walker.frame().bytes;
                end = walker.frame().end();
            }
        }
    }
}

// Time of the last recorded step; 0 where there is none.
[[nodiscard]] double last_time(trial const& run) {
    std::vector<step_id> const steps = run.steps();
    if (steps.empty()) { return 0; }
    std::vector<std::string> const names = run.names(filter{.step = steps.back()});
    return names.empty() ? 0 : run[names.front()].time(steps.back()).value_or(0);
}

// The roles that tensors have, and their numbers.
[[nodiscard]] std::map<role, std::uint64_t> count_roles(trial const& run) {
    std::map<role, std::uint64_t> counts;
    for (std::string const& name : run.names()) { ++counts[run[name].info().role]; }
    return counts;
}

// One of several workers.
struct part {
    recording where{};
    std::string status{};
    std::uint64_t closed = 0;
    std::uint64_t bytes = 0;
};

struct described {
    std::string path;
    trial run;
    sizes size{};
    std::vector<part> workers{};
    run_losses lost{};
    disk_cost cost{};

    // What the plan alone costs: only with its collections.
    [[nodiscard]] bool knows_plan() const { return cost.plan_is_known && !run.collections().empty(); }
};

// Bytes of extracted features by rule, largest first. Rules that extract from memory, or with other parameters, have
// unknown names.
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> features_of(disk_cost const& cost) {
    std::map<std::string, std::uint64_t> by_rule;
    for (auto const& [key, bytes] : cost.features) { by_rule[rules_of_feature(key)] += bytes; }
    std::vector<std::pair<std::string, std::uint64_t>> all{by_rule.begin(), by_rule.end()};
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    return all;
}
// Whether the run says of each of these rules, "a, b", that it judged nothing.
[[nodiscard]] bool judged_nothing(trial const& run, std::string_view rules) {
    while (!rules.empty()) {
        std::size_t const end = (std::min)(rules.find(", "), rules.size());
        std::string_view const name = rules.substr(0, end);
        bool met = false;
        for (recorded_coverage const& each : run.coverages()) {
            if (each.rule != name) { continue; }
            if (each.judged > 0) { return false; }
            met = true;
        }
        if (!met) { return false; }
        rules.remove_prefix((std::min)(end + 2, rules.size()));
    }
    return true;
}
[[nodiscard]] disk_bytes bytes_of(disk_cost const& cost, std::string const& collection) {
    auto const found = cost.collections.find(collection);
    return found == cost.collections.end() ? disk_bytes{} : found->second;
}

[[nodiscard]] std::string duration_text(double seconds) { return spotter::detail::duration_text(seconds); }
[[nodiscard]] std::string bytes_text(std::uint64_t bytes) { return spotter::detail::bytes_text(bytes); }

[[nodiscard]] std::string status_lines(described const& it) {
    trial const& run = it.run;
    std::string lines = fmt::format("{}: {}", plain(it.path), name_of(run.status()));
    if (!run.why_ended().empty()) { lines += fmt::format(" ({})", plain(run.why_ended())); }
    if (run.status() == run_status::running) { lines += fmt::format(", silent for {}", duration_text(run.age())); }
    if (run.attempts() > 1) { lines += fmt::format(", in {} attempts", run.attempts()); }
    lines += fmt::format("\n  steps     {} closed", run.closed_steps());
    for (mode const each : run.modes()) {
        lines += fmt::format(", {} {} with something kept", run.steps(each).size(), name_of(each));
    }
    if (!(it.size.began > 0)) { return lines; }
    lines += fmt::format("\n  began     {}", spotter::detail::time_text(it.size.began));
    double const last = last_time(run);
    return last < it.size.began
               ? lines
               : lines + fmt::format("; the last step was closed {} later", duration_text(last - it.size.began));
}

[[nodiscard]] std::string content_lines(trial const& run) {
    std::string lines = fmt::format("\n  tensors   {}", run.names().size());
    std::string_view before = ": ";
    for (auto const& [role, count] : count_roles(run)) {
        lines += fmt::format("{}{} {}", before, count, name_of(role));
        before = ", ";
    }
    spotter::detail::each_environment_line(run.environment(), [&](std::string_view key, std::string_view value) {
        lines += fmt::format("\n  {:<9} {}", key, plain(value));
    });
    for (recorded_collection const& each : run.collections()) {
        lines += fmt::format("\n  keeps     {} ({}): {}", plain(each.name),
                             plain(spotter::detail::shortened(each.what).view()),
                             spotter::detail::members_text(run, each.name));
    }
    return lines;
}

[[nodiscard]] std::string cost_lines(described const& it) {
    std::string lines;
    auto const add = [&](std::string_view what, std::uint64_t bytes) {
        if (bytes > 0) { lines += fmt::format("\n  takes     {}: {}", what, bytes_text(bytes)); }
    };
    std::uint64_t for_rules = it.cost.statistics.values + it.cost.statistics.rows;
    for (auto const& [name, its] : it.cost.collections) {
        std::uint64_t const beyond = it.knows_plan() ? its.beyond : 0;
        add(plain(name), its.values + its.rows - beyond);
        for_rules += beyond;
    }
    add("scalars in no collection", it.cost.scalars.rows);
    add("statistics that rules alone ask for", for_rules);
    for (auto const& [rule, bytes] : features_of(it.cost)) {
        bool const in_vain = !rule.empty() && judged_nothing(it.run, rule);
        lines += fmt::format("\n  takes     features for {}{}: {}",
                             rule.empty() ? "rules with a memory, or parameters of their own" : rule,
                             in_vain ? ", which judged nothing" : "", bytes_text(bytes));
    }
    if (std::uint64_t const added = it.cost.for_rules(); added > 0 && it.knows_plan()) {
        lines += fmt::format(
            "\n  plan      alone: {}; rules add {}: what they ask for at other steps, of other tensors, and "
            "features. `rule | only{{every{{10}}}}` adds it at every tenth step alone",
            bytes_text(it.cost.for_plan()), bytes_text(added));
    }
    auto const& size = it.size;
    lines += fmt::format("\n  size      {} in {}", bytes_text(size.bytes), plural(size.segments, "segment"));
    if (size.values > 0) {
        lines +=
            fmt::format(": values {} from {} ({:.2f} : 1), rows {}", bytes_text(size.values), bytes_text(size.unpacked),
                        static_cast<double>(size.unpacked) / static_cast<double>(size.values), bytes_text(size.rows));
    }
    return lines + fmt::format("; sidecars {}", bytes_text(size.sidecars));
}

[[nodiscard]] std::string loss_lines(described const& it) {
    trial const& run = it.run;
    run_totals const& totals = run.totals();
    std::string lines = fmt::format("\n  lost      {} dropped, {} without their values, {} refused\n", totals.dropped,
                                    totals.thinned, totals.refused);
    for (std::string const& each : refused_names(run)) { lines += fmt::format("  refused   {}\n", each); }
    for (part const& each : it.workers) {
        lines += fmt::format("  worker {}  {}, {} closed, {} in {}\n", each.where.worker, each.status,
                             plural(each.closed, "step"), bytes_text(each.bytes), plain(each.where.path));
    }
    for (damaged_place const& each : run.damage()) {
        lines += fmt::format("  damaged   {}:{}: {}\n", plain(each.file), each.offset, plural(each.bytes, "byte"));
    }
    for (lost_end const& each : it.lost.ends) {
        lines += fmt::format("  cut off   {}:{}: {}\n", plain(each.file), each.offset, plural(each.bytes, "byte"));
    }
    if (it.lost.steps > 0) { lines += fmt::format("  gone      {}\n", plural(it.lost.steps, "closed step")); }
    if (std::string const text = bad_end_text(run); !text.empty()) { lines += fmt::format("  ended     {}\n", text); }
    return lines;
}

void print(described const& it) { say(status_lines(it) + content_lines(it.run) + cost_lines(it) + loss_lines(it)); }

void print_verdict(trial const& run) {
    bool const ended = run.status() == run_status::finished || run.status() == run_status::failed;
    if (!ended && run.findings().empty()) { return say("no finding so far\n"); }
    std::string const text = spotter::detail::describe_verdict(run.findings(), run.coverages()) +
                             spotter::detail::describe_coverage(run.coverages());
    say(plain_lines(text));
}

[[nodiscard]] json collections_json(described const& it) {
    return json_list(it.run.collections(), [&](recorded_collection const& each) -> json {
        disk_bytes const its = bytes_of(it.cost, each.name);
        return {{"name", each.name},
                {"keeps", each.what},
                {"names", it.run.names(filter{.collection = each.name}).size()},
                {"values_bytes", its.values},
                {"rows_bytes", its.rows}};
    });
}

[[nodiscard]] json to_json(described const& it) {
    json document = document_of("info", it.path);
    trial const& run = it.run;
    run_totals const& totals = run.totals();
    document["status"] = std::string{name_of(run.status())};
    document["why"] = std::string{run.why_ended()};
    document["loss"] = loss_json(it.lost);
    document["open_steps"] = open_steps_json(open_steps_of(run));
    document["age"] = run.status() == run_status::running ? json(run.age()) : json();
    document["attempts"] = run.attempts();
    document["began"] = it.size.began > 0 ? json(it.size.began) : json();
    document["last_close"] = last_time(run) > 0 ? json(last_time(run)) : json();
    document["steps"] = {{"closed", run.closed_steps()}};
    for (mode const each : {mode::train, mode::eval, mode::predict}) {
        document["steps"][std::string{name_of(each)}] = run.steps(each).size();
    }
    document["tensors"] = run.names().size();
    document["roles"] = json::object();
    for (auto const& [role, count] : count_roles(run)) { document["roles"][std::string{name_of(role)}] = count; }
    document["collections"] = collections_json(it);
    document["features"] = json_list(features_of(it.cost), [](auto const& each) -> json {
        return {{"rule", each.first.empty() ? json() : json(each.first)}, {"bytes", each.second}};
    });
    document["bytes_for_rules"] = it.cost.statistics.rows + it.cost.statistics.values;
    document["bytes_plan_alone"] = it.knows_plan() ? json(it.cost.for_plan()) : json();
    document["bytes_rules_add"] = it.knows_plan() ? json(it.cost.for_rules()) : json();
    document["bytes"] = {{"segments", it.size.bytes},
                         {"sidecars", it.size.sidecars},
                         {"rows", it.size.rows},
                         {"values", it.size.values},
                         {"values_unpacked", it.size.unpacked}};
    document["segments"] = it.size.segments;
    document["lost"] = {{"dropped", totals.dropped},
                        {"thinned", totals.thinned},
                        {"closes", totals.closes_lost},
                        {"refused", totals.refused}};
    document["refused"] = refused_names(run);
    document["damage"] = json_list(run.damage(), [](damaged_place const& each) -> json {
        return {{"file", each.file}, {"offset", each.offset}, {"bytes", each.bytes}};
    });
    document["environment"] = json::object();
    spotter::detail::each_environment_line(run.environment(), [&](std::string_view key, std::string_view value) {
        document["environment"][std::string{key}] = std::string{value};
    });
    document["workers"] = json_list(it.workers, [](part const& each) -> json {
        return {{"worker", each.where.worker},
                {"path", each.where.path},
                {"status", each.status},
                {"closed", each.closed},
                {"bytes", each.bytes}};
    });
    document["findings"] = json_list(run.findings(), finding_json);
    document["rules"] = coverages_json(run.coverages());
    return document;
}

// The result of --check, in addition to losses. A running run without findings so far is fine.
void judge(trial const& run, outcome& end) {
    if (std::any_of(run.findings().begin(), run.findings().end(),
                    [](finding const& each) { return each.severity != severity::info; })) {
        end.note(found);
    }
    bool const live = run.status() == run_status::running;
    if (!live && run.status() != run_status::finished) { end.note(ended_badly); }
    if (!live && run.findings().empty() && !unjudged_text(run, run.coverages()).empty()) { end.note(not_judged); }
}

}  // namespace

int info(info_options const& wanted) {
    std::string const path = tidy(wanted.path);
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return fail(why, wanted.json, "info", path); }
    auto run = open_trial(path);
    if (!run) { return fail(run.error(), wanted.json, "info", path); }
    described it{path, std::move(*run), {}, {}, {}, {}};
    outcome end{"info"};
    {
        progress bar{"info", {bytes_of(all), "bytes", 2}};
        counted_reading const counting{it.run, bar, reading::all};
        it.cost = disk_cost_of(it.run);
        (void)end.look_at(it.run);
        it.lost = it.run.losses();
    }
    for (recording const& each : all) {
        std::uint64_t const before = it.size.bytes;
        measure(each, it.size);
        if (all.size() == 1) { break; }
        part one{each, "unreadable", 0, it.size.bytes - before};
        if (auto const alone = open_trial(path, worker{each.worker}); alone) {
            one.status = name_of(alone->status());
            one.closed = alone->closed_steps();
        }
        it.workers.push_back(std::move(one));
    }
    if (wanted.json) {
        say_document(to_json(it));
    } else {
        print(it);
        print_verdict(it.run);
    }
    if (wanted.check) { judge(it.run, end); }
    return end.code();
}

}  // namespace spotter_tool
