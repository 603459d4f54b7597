// SPDX-License-Identifier: Apache-2.0
// Workbench, profile: the bodies of spotter/workbench/profile.hpp.
#include "profile/times.hpp"

#include <spotter/core/sentence.hpp>
#include <spotter/report/describe.hpp>
#include <spotter/trial/trial.hpp>
#include <spotter/workbench/profile.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace spotter::inline SPOTTER_ABI::detail {

static void settle_series(machine_series& it) {
    std::vector<double> known;
    for (double const each : it.values) {
        if (!std::isnan(each)) { known.push_back(each); }
    }
    if (known.empty()) { return; }
    std::sort(known.begin(), known.end());
    for (double const each : known) { it.mean += each / static_cast<double>(known.size()); }
    auto const rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(known.size())));
    it.p95 = known[rank > 0 ? rank - 1 : 0];
    it.most = known.back();
}

[[nodiscard]] static double usual_of(machine_series const& it) {
    std::vector<double> known;
    for (double const each : it.values) {
        if (!std::isnan(each)) { known.push_back(each); }
    }
    if (known.empty()) { return 0; }
    auto const middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
    std::nth_element(known.begin(), middle, known.end());
    return *middle;
}

// The metrics of a machine that are shown, in order, and their wording.
struct machine_words {
    std::string_view name, line, unusual;
};
constexpr machine_words machine_shares[] = {
    {"cpu", "of all cores at work", ""},
    {"busiest_core", "of the busiest core", ""},
    {"own_cpu", "of all cores by this process", ""},
    {"other_cpu", "of all cores by others", "others had {} of the processor"},
    {"stolen", "of all cores taken by other machines", ""},
    {"io_wait", "of all cores idle, waiting for disks", ""},
    {"pressure/cpu", "of the time some task waited for a core", "tasks waited for a core {} of the time"},
    {"pressure/memory", "of the time some task waited for memory", "tasks waited for memory {} of the time"},
    {"pressure/io", "of the time some task waited for disks", "tasks waited for disks {} of the time"},
    {"memory", "of the available memory, taken and not returned", ""},
};

[[nodiscard]] static std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

machine_series const* machine_profile::find(std::string_view name) const noexcept {
    for (machine_series const& each : series) {
        if (each.name == name) { return &each; }
    }
    return nullptr;
}

double machine_profile::mean_of(std::string_view name) const noexcept {
    machine_series const* const it = find(name);
    return it != nullptr ? it->mean : 0;
}

std::size_t machine_profile::sample_at(double time) const noexcept {
    return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
}

machine_profile machine_of(trial const& run, worker which) {
    machine_profile made;
    auto const samples = open_samples(run, which);
    if (!samples) { return made; }
    std::map<std::uint64_t, std::size_t> place;  // index of a sample by its step; of several attempts the last
    for (timed_step const& each : samples->times()) {
        if (each.step.mode != mode::predict || (!made.times.empty() && each.closed < made.times.back())) { continue; }
        place[each.step.index] = made.times.size();
        made.times.push_back(each.closed);
    }
    auto const put = [&](std::string const& name, auto which_statistic, std::string shown) {
        machine_series one{std::move(shown),
                           std::vector<double>(made.times.size(), std::numeric_limits<double>::quiet_NaN())};
        for (point const& each : (*samples)[name].history(which_statistic)) {
            auto const at = place.find(each.step.index);
            if (is_finite(each.value) && at != place.end()) { one.values[at->second] = each.value; }
        }
        detail::settle_series(one);
        made.series.push_back(std::move(one));
    };
    for (std::string const& name : samples->names("sys/*")) {
        if (name == "sys/absent") { continue; }
        put(name, mean, name.substr(4));
        if (name != "sys/cpu") { continue; }
        put(name, maximum, "busiest_core");
        auto const steps = (*samples)[name].steps();
        if (!steps.empty()) { made.cores = (*samples)[name].at(steps.front()).shape().elements(); }
    }
    return made;
}

std::string unusual_between(machine_profile const& it, double from, double to) {
    std::string text;
    std::size_t const first = it.sample_at(from), last = (std::min)(it.sample_at(to) + 1, it.times.size());
    for (detail::machine_words const& each : detail::machine_shares) {
        machine_series const* const found = each.unusual.empty() ? nullptr : it.find(each.name);
        if (found == nullptr) { continue; }
        double most = 0;
        for (std::size_t i = first; i < last; ++i) {
            most = (std::max)(most, std::isnan(found->values[i]) ? 0 : found->values[i]);
        }
        if (most < 0.2 + detail::usual_of(*found)) { continue; }
        text += text.empty() ? "" : ", ";
        text += fmt::format(fmt::runtime(each.unusual), detail::share_text(most));
    }
    return text;
}

std::string describe(machine_profile const& it) {
    if (it.empty()) { return {}; }
    std::string text = fmt::format("machine: {}, {} in {}\n", detail::plural(it.cores, "core").view(),
                                   detail::plural(it.times.size(), "sample").view(),
                                   detail::duration_text(it.times.back() - it.times.front()));
    auto const line = [&](machine_series const& each, std::string_view what) {
        text += fmt::format("    {:>5}  {}; 95 % below {}\n", detail::share_text(each.mean), what,
                            detail::share_text(each.p95));
    };
    for (detail::machine_words const& each : detail::machine_shares) {
        machine_series const* const found = it.find(each.name);
        bool const always =
            each.name == "cpu" || each.name == "busiest_core" || each.name == "own_cpu" || each.name == "memory";
        if (found != nullptr && (always || found->p95 >= 0.01)) { line(*found, each.line); }
    }
    if (machine_series const* const found = it.find("resident"); found != nullptr) {
        text += fmt::format("    {} in memory at most, with the files it has mapped\n",
                            detail::bytes_text(static_cast<std::uint64_t>((std::max)(0.0, found->most))));
    }
    for (machine_series const& each : it.series) {
        std::string_view const name = each.name;
        std::string const number{name.substr(name.rfind('/') + 1)};
        if (name.starts_with("gpu_util/")) { line(each, "GPU " + number + " at work"); }
        if (name.starts_with("gpu_mem/")) { line(each, "of the memory of GPU " + number); }
        if (name.starts_with("gpu_slowed/") && each.mean > 0) {
            line(each, "GPU " + number + " held down by heat or power");
        }
    }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI
