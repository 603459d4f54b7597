// SPDX-License-Identifier: Apache-2.0
// A sink for tests: keeps every event as a line of text, and the values that the hook asked it to keep.
#pragma once

#include <spotter/hook.hpp>

#include <map>
#include <string>
#include <vector>

namespace spotter_test {

inline std::string text_of(spotter::step_id step) {
    return std::string{name_of(step.mode)} + "(" + std::to_string(step.index) + ")";
}

struct collecting_sink {
    using offers = spotter::sink_offers<spotter::sink_call::leave, spotter::sink_call::poll>;

    std::vector<std::string> events;  // "declare loss", "observe loss train(3)", "close train(3)", ...
    std::map<std::string, std::vector<spotter::step_id>> kept;  // with values, by name
    std::map<std::string, spotter::stats_mask> asked;           // the last `keep`, by name
    std::map<std::string, spotter::tensor_info> infos;          // as last declared
    std::vector<spotter::step_alarm> alarms;                    // their names belong to the hook and live as long
    std::vector<std::string> blamed;                            // tensors of all findings, in turn
    std::vector<double> numbers;                                // of scalars
    std::vector<double> times;                                  // of scalars that had one
    std::vector<std::string> collections;
    std::vector<spotter::coverage> coverages;
    std::string ended;  // "finished" or "failed: why"
    std::uint64_t refused = 0;
    int starts = 0, flushes = 0, polls = 0;

    void start(spotter::run_info const& run) noexcept {
        ++starts;
        for (auto const& each : run.collections) {
            collections.push_back(std::string{each.name} + ": " + std::string{each.what.view()});
        }
    }
    void declare(spotter::tensor_info const& tensor) noexcept {
        events.push_back("declare " + std::string{tensor.name});
        infos[std::string{tensor.name}] = tensor;
    }
    void observe(spotter::observation const& seen, spotter::stats_mask keep) noexcept {
        std::string const name{seen.tensor.name};
        events.push_back("observe " + name + " " + text_of(seen.step));
        asked[name] = keep;
        if (has(keep, spotter::stats_mask::payload)) { kept[name].push_back(seen.step); }
    }
    void feature(spotter::tensor_info const& tensor, spotter::step_id step, std::uint64_t,
                 std::span<double const> made) noexcept {
        events.push_back("feature " + std::string{tensor.name} + " " + text_of(step) + " of " +
                         std::to_string(made.size()));
    }
    void scalar(spotter::tensor_info const& tensor, spotter::step_id const* step, spotter::tensor_ref const& value,
                double const* time) noexcept {
        events.push_back("scalar " + std::string{tensor.name} + " " + (step != nullptr ? text_of(*step) : "loose"));
        if (value.type == spotter::dtype::f64) { numbers.push_back(*value.values.f64); }
        if (time != nullptr) { times.push_back(*time); }
    }
    void close(spotter::step_id step, spotter::step_alarm const& found) noexcept {
        events.push_back("close " + text_of(step));
        keep(found);
    }
    void leave(spotter::step_id step, spotter::step_alarm const& found) noexcept {
        events.push_back("leave " + text_of(step));
        keep(found);
    }
    void keep(spotter::step_alarm const& found) {
        alarms.push_back(found);
        for (spotter::finding const& each : found) { blamed.emplace_back(each.tensor); }
    }
    void finish(spotter::run_end const& end) noexcept {
        ended = end.how == spotter::ending::finished ? "finished" : "failed: " + std::string{end.why};
        coverages.assign(end.coverage.begin(), end.coverage.end());
        refused = end.refused;
    }
    void flush() noexcept { ++flushes; }
    void poll() noexcept { ++polls; }
    [[nodiscard]] spotter::sink_health health() const noexcept { return {}; }
    [[nodiscard]] std::string_view path() const noexcept { return "nowhere"; }

    [[nodiscard]] std::size_t count(std::string_view beginning) const {
        std::size_t found = 0;
        for (std::string const& each : events) { found += each.starts_with(beginning) ? 1 : 0; }
        return found;
    }
};
static_assert(spotter::event_sink<collecting_sink>);

}  // namespace spotter_test
