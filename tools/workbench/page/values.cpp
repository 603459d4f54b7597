// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of values.hpp.
#include "page/values.hpp"

#include <spotter/stat/summarize.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

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
    struct curve {
        series* into;
        statistic of;
        bool wanted;
    };
    auto const lacks = [&](series const& data, role of) { return data.empty() && tensor.info.role == of; };
    curve const curves[] = {{&mine.mean_abs, mean_abs, mine.mean_abs.empty() && mine.root_mean_square.empty()},
                            {&mine.zeros, zero_fraction, lacks(mine.zeros, role::activation)},
                            {&mine.most, maximum, lacks(mine.most, role::tree)}};
    bool const change = lacks(mine.change, role::weight);
    bool const spread = mine.spreads.empty();
    bool const any = std::any_of(std::begin(curves), std::end(curves), [](curve const& it) { return it.wanted; });
    if (!(any || change || spread)) { return; }
    std::vector<double> before;
    for (kept_step const& each : mine.kept.items()) {
        recorded_value const value = from.read(tensor, each.step);
        if (value.error().code == errc::corrupt) { ++mine.unreadable; }
        if (!value) { continue; }
        summary const stats = summarize(value.view(), stats_mask::sum_abs | stats_mask::zeros | stats_mask::range);
        for (curve const& it : curves) {
            if (measurement const found = it.of(stats); it.wanted && found.known) {
                it.into->add(each.at, found.value);
            }
        }
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

recorded_value value_source::read(tensor_story const& tensor, step_id step) {
    std::uint64_t const bytes = tensor.info.shape.elements() * size_of(tensor.info.type);
    if (bytes > left_) {
        spent_ = true;
        return error{errc::no_payload, "more values than a page reads"};
    }
    left_ -= bytes;
    return run_[tensor.name].at(step);
}

void read_values(run_story& story, value_source& from) {
    for (tensor_story& each : story.tensors) {
        role const what = each.info.role;
        bool const layer =
            what == role::weight || what == role::gradient || what == role::activation || what == role::tree;
        if (layer) { detail::read_values_of(each, each.any_mode(), from); }
    }
}

}  // namespace spotter::inline SPOTTER_ABI::html
