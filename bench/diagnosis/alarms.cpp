// SPDX-License-Identifier: Apache-2.0
#include "alarms.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace diagnosis {

namespace {

namespace sp = spotter;

std::string other_of(std::string_view detail) {
    std::size_t const from = detail.find("; or "), to = detail.find(": to distinguish them", from);
    return to == detail.npos ? std::string{} : std::string{detail.substr(from + 5, to - from - 5)};
}

void note(sp::finding const& each, sp::step_id step, bool first, bool early, verdict& into) {
    reported_finding const it{std::string{each.rule}, std::string{each.reason},    std::string{each.tensor}, step.index,
                              each.measured,          other_of(each.detail.view())};
    if (first) { into.first.push_back(it); }
    if (into.bad_value.empty() && (it.rule == "non_finite" || it.rule == "exploding_tensor")) {
        into.bad_value = it.tensor;
        into.bad_value_at = step.index;
    }
    std::vector<reported_finding>& list = early ? into.too_early : into.rules;
    bool const known =
        std::any_of(list.begin(), list.end(), [&](reported_finding const& one) { return one.rule == it.rule; });
    if (!known) { list.push_back(it); }
}

}  // namespace

void note_alarm(sp::step_alarm const& found, sp::step_id step, std::uint64_t onset, verdict& into) {
    into.skips += found.decision() == sp::decision::skip_update ? 1 : 0;
    if (found.decision() == sp::decision::stop && !std::exchange(into.stopped, true)) { into.stopped_at = step.index; }
    if (!found) { return; }
    bool const early = step.index < onset;
    bool const first = !into.alarmed && !early;
    if (first) {
        into.alarmed = true;
        into.step = step.index;
        into.mode = std::string{sp::name_of(step.mode)};
    }
    for (sp::finding const& each : found) {
        if (each.severity >= sp::severity::warning) { note(each, step, first, early, into); }
    }
}

}  // namespace diagnosis
