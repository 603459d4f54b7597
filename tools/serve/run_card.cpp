// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the bodies of run_card.hpp.
#include "run_card.hpp"

#include "../findings.hpp"

#include <spotter/report/losses.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>

namespace spotter_tool::live {

using namespace spotter;

namespace {

constexpr double unknown_number = std::bit_cast<double>(0x7FF8000000000000ULL);
constexpr std::size_t most_outcomes = 24, most_settings = 64, line_columns = 24;

[[nodiscard]] double unix_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The means of a few stretches.
[[nodiscard]] std::vector<double> small_line(html::series data) {
    while (data.buckets().size() > line_columns) { data.coarsen(data.shift() + 1); }
    std::vector<double> line;
    for (html::series::bucket const& each : data.buckets()) {
        if (each.seen()) { line.push_back(each.count > 0 ? each.mean() : unknown_number); }
    }
    return line;
}

void add_outcomes(live_run& from, run_card& into) {
    for (mode const in : {mode::eval, mode::train, mode::predict}) {
        for (role const wanted : {role::loss, role::metric}) {
            for (auto const& reader : from.run()->readers()) {
                for (auto const& tensor : reader->index().tensors()) {
                    if (tensor->info.role != wanted || into.outcomes.size() >= most_outcomes) { continue; }
                    bool const known = std::any_of(into.outcomes.begin(), into.outcomes.end(), [&](auto const& it) {
                        return it.name == tensor->name && it.in == in;
                    });
                    if (known) { continue; }
                    curve const* const its = from.curve_of({tensor->name, "mean", reader->number()});
                    if (its == nullptr || !its->modes[index_of(in)]) { continue; }
                    html::series const& data = *its->modes[index_of(in)];
                    if (data.empty()) { continue; }
                    double const last = data.ends_bad() ? unknown_number : data.last_value().value_or(unknown_number);
                    into.outcomes.push_back({tensor->name, in, last, small_line(data)});
                }
            }
        }
    }
}

// Numbers and texts that were recorded before the first step, and tensors of role hyperparameter.
void add_settings(trial const& run, run_card& into) {
    for (auto const& reader : run.readers()) {
        for (auto const& tensor : reader->index().tensors()) {
            if (tensor->entries.empty() || into.settings.size() >= most_settings) { continue; }
            bool const known = std::any_of(into.settings.begin(), into.settings.end(),
                                           [&](auto const& it) { return it.first == tensor->name; });
            track_entry const first = *tensor->entries.begin();
            if (known || !first.loose || first.ordinal > 0) { continue; }
            worker_track const track{*reader, tensor->name};
            auto const scalars = track.loose();
            if (scalars.empty()) { continue; }
            loose_scalar const& it = scalars.front();
            into.settings.emplace_back(tensor->name, it.type == dtype::text
                                                         ? it.bytes.substr(0, 200)
                                                         : spotter_tool::detail::float_text(it.value, false));
        }
    }
}

void add_findings(trial const& run, run_card& into) {
    auto const all = gathered(run.findings());
    finding const* worst = nullptr;
    for (auto const& each : all) {
        finding const& it = each.strongest;
        ++into.found[static_cast<std::size_t>(it.severity)];
        if (worst == nullptr || is_reported_before(it, *worst)) { worst = &it; }
    }
    if (worst != nullptr) { into.worst = finding_text(*worst); }
}

// A finding requested a stop, and no train step was closed after it.
[[nodiscard]] bool was_stopped(trial const& run) {
    for (finding const& it : run.findings()) {
        if (response_of(it) != decision::stop) { continue; }
        auto const at = run.ordinal(it.step);
        for (auto const& each : run.readers()) {
            step_list const& steps = each->index().steps();
            if (each->number() == it.worker && at && !steps.empty() && steps.back().ordinal <= *at + 1) { return true; }
        }
    }
    return false;
}

}  // namespace

run_card card_of(live_run& from) {
    run_card made;
    made.read = unix_now();
    trial const* const run = from.run();
    if (run == nullptr) {
        made.status = "unreadable";
        made.why = from.trouble();
        return made;
    }
    made.status = name_of(run->status());
    made.why = !from.trouble().empty() ? from.trouble() : std::string{run->why_ended()};
    made.over = run->over();
    made.steps = run->closed_steps();
    made.workers = static_cast<std::uint32_t>((std::max)(std::size_t{run->expected_workers()}, run->readers().size()));
    made.attempts = run->attempts();
    made.age = run->age();
    for (auto const& each : run->readers()) {
        double const began = each->index().begun_at();
        if (began > 0 && (made.began == 0 || began < made.began)) { made.began = began; }
        step_list const& steps = each->index().steps();
        if (!steps.empty()) { made.last = (std::max)(made.last, steps.back().time); }
        made.last = (std::max)(made.last, each->index().ended_at());
    }
    if (run->status() == run_status::finished && was_stopped(*run)) { made.status = "stopped"; }
    add_findings(*run, made);
    add_settings(*run, made);
    add_outcomes(from, made);
    if (run_losses const lost = run->losses(); lost.any()) { made.lost = plain(describe(lost)); }
    return made;
}

json card_json(run_card const& it) {
    json made = {{"status", it.status},   {"why", it.why},           {"over", it.over},      {"steps", it.steps},
                 {"workers", it.workers}, {"attempts", it.attempts}, {"began", it.began},    {"last", it.last},
                 {"age", it.age},         {"read", it.read},         {"notes", it.found[0]}, {"warnings", it.found[1]},
                 {"errors", it.found[2]}, {"worst", it.worst},       {"lost", it.lost}};
    auto const rounded = [](double const& value) {
        return is_finite(value) ? json(std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr)) : json();
    };
    made["outcomes"] = json_list(it.outcomes, [&](outcome_now const& each) -> json {
        return {{"name", each.name},
                {"mode", std::string{name_of(each.in)}},
                {"value", number(each.value)},
                {"line", json_list(each.line, rounded)}};
    });
    made["settings"] = json_list(it.settings, [](auto const& each) { return json::array({each.first, each.second}); });
    return made;
}

}  // namespace spotter_tool::live
