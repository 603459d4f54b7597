// SPDX-License-Identifier: Apache-2.0
// The bodies of joint_track.hpp.
#pragma once

#include <spotter/trial/joint_track.hpp>

#include <type_traits>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY track track::of(worker which) const {
    return detail::listed([&] {
        for (std::size_t i = 0; i < parts(); ++i) {
            if (part(i).worker() == which.number) { return track{part(i), false}; }
        }
        return track{worker_track{which, name()}, false};
    });
}

SPOTTER_BODY std::vector<step_id> track::steps(mode which) const {
    return closings([=](step_id step) { return step.mode == which; }, false);
}

SPOTTER_BODY std::vector<step_id> track::last(std::size_t count, step_id step) const {
    std::vector<step_id> found =
        closings([=](step_id each) { return each.mode == step.mode && each.index <= step.index; }, false);
    if (found.size() > count) { found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(count)); }
    return found;
}

SPOTTER_BODY recorded_value track::at(step_id step) const {
    return lowest(step, [&](worker_track const& each) { return each.at(step); });
}

SPOTTER_BODY recorded_value track::at(step_id step, nth which) const {
    return lowest(step, [&](worker_track const& each) { return each.at(step, which); });
}

SPOTTER_BODY recorded_value track::at(step_id step, attempt which) const {
    return lowest(step, [&](worker_track const& each) { return each.at(step, which); });
}

SPOTTER_BODY recorded_value track::at(step_id step, elements which) const {
    return lowest(step, [&](worker_track const& each) { return each.at(step, which); });
}

SPOTTER_BODY result<double> track::stat(step_id step, statistic which) const {
    return lowest(step, [&](worker_track const& each) { return each.stat(step, which); }, true);
}

SPOTTER_BODY result<spotter::distribution> track::distribution(step_id step, stats_mask wanted) const {
    return lowest(step, [&](worker_track const& each) { return each.distribution(step, wanted); }, true);
}

SPOTTER_BODY result<double> track::quantile(step_id step, double level) const {
    return lowest(step, [&](worker_track const& each) { return each.quantile(step, level); }, true);
}

SPOTTER_BODY result<double> track::time(step_id step) const {
    return lowest(step, [&](worker_track const& each) { return each.time(step); });
}

SPOTTER_BODY result<extents> track::shape(step_id step) const {
    return lowest(step, [&](worker_track const& each) { return each.shape(step); });
}

SPOTTER_BODY std::vector<loose_scalar> track::loose() const {
    return detail::listed([&] {
        auto found = first_.loose();
        for (std::size_t i = 1; found.empty() && i < parts() && !part(i - 1).lacks_some(); ++i) {
            found = part(i).loose();
        }
        return found;
    });
}

SPOTTER_BODY bool track::hidden_below(std::size_t which, step_id step) const {
    bool found = false;
    for (std::size_t i = 0; i < which && !found; ++i) { found = part(i).may_hide(step); }
    return found;
}

SPOTTER_BODY error track::hidden(std::uint32_t worker) noexcept {
    error why{errc::corrupt, "a lower worker may have recorded it in bytes that cannot be read, or that were not "
                             "written to their end: run.damage() "
                             "lists what is damaged, of(worker{"};
    why.what << worker << "}) reads one that has it";
    return why;
}

SPOTTER_BODY worker_track const* track::known() const noexcept {
    for (std::size_t i = 0; i < parts(); ++i) {
        if (part(i)) { return &part(i); }
    }
    return nullptr;
}

SPOTTER_BODY int track::weight(errc code) noexcept {
    switch (code) {
        case errc::no_such_worker:
            return 1;
        case errc::no_such_name:
            return 2;
        case errc::no_such_step:
            return 3;
        case errc::not_in_step:
            return 4;
        case errc::not_yet:
            return 5;
        case errc::no_payload:
            return 6;
        default:
            return 0;
    }
}

}  // namespace spotter::inline SPOTTER_ABI
