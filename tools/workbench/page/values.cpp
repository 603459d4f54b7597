// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of values.hpp.
#include "page/values.hpp"

#include <spotter/stat/summarize.hpp>

#include <cmath>

namespace spotter::inline SPOTTER_ABI::html {

recorded_value value_source::read(tensor_story const& tensor, step_id step) {
    std::uint64_t const bytes = tensor.info.shape.elements() * size_of(tensor.info.type);
    if (bytes > left_) {
        spent_ = true;
        return error{errc::no_payload, "more values than a page reads"};
    }
    left_ -= bytes;
    return run_[tensor.name].at(step);
}

}  // namespace spotter::inline SPOTTER_ABI::html

namespace spotter::inline SPOTTER_ABI::html::detail {

// |now - before| / |before|; unknown where a value is not finite or all were zero.
[[nodiscard]] static measurement relative_change(std::vector<double> const& before, std::vector<double> const& now) {
    double difference = 0, size = 0;
    if (before.size() != now.size()) { return {}; }
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (!is_finite(before[i]) || !is_finite(now[i])) { return {}; }
        difference += (now[i] - before[i]) * (now[i] - before[i]);
        size += before[i] * before[i];
    }
    return size > 0 ? measurement{std::sqrt(difference / size), true} : measurement{};
}

static void read_values_of(tensor_story const& tensor, mode_story& mine, value_source& from) {
    bool const scale = mine.mean_abs.empty() && mine.root_mean_square.empty();
    bool const zeros = mine.zeros.empty() && tensor.info.role == role::activation;
    bool const change = mine.change.empty() && tensor.info.role == role::weight;
    bool const spread = mine.spreads.empty();
    bool const last = mine.most.empty() && tensor.info.role == role::tree;
    if (!(scale || zeros || change || spread || last)) { return; }
    std::vector<double> before;
    for (kept_step const& each : mine.kept.items()) {
        recorded_value const value = from.read(tensor, each.step);
        if (value.error().code == errc::corrupt) { ++mine.unreadable; }
        if (!value) { continue; }
        summary const stats = summarize(value.view(), stats_mask::sum_abs | stats_mask::zeros | stats_mask::range);
        if (measurement const size = mean_abs(stats); scale && size.known) { mine.mean_abs.add(each.at, size.value); }
        if (measurement const share = zero_fraction(stats); zeros && share.known) {
            mine.zeros.add(each.at, share.value);
        }
        if (measurement const top = maximum(stats); last && top.known) { mine.most.add(each.at, top.value); }
        if (spread) {
            distribution const all = distribution_of(value.view(), stats_mask::histogram, {});
            if (all.has_histogram) { mine.spreads.add({each, all}); }
        }
        if (!change) { continue; }
        std::vector<double> now = row_major_values(value.view());
        if (measurement const it = relative_change(before, now); it.known) { mine.change.add(each.at, it.value); }
        before = std::move(now);
    }
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

void read_values(run_story& story, value_source& from) {
    for (tensor_story& each : story.tensors) {
        role const what = each.info.role;
        bool const layer =
            what == role::weight || what == role::gradient || what == role::activation || what == role::tree;
        if (layer) { detail::read_values_of(each, each.any_mode(), from); }
    }
}

}  // namespace spotter::inline SPOTTER_ABI::html
