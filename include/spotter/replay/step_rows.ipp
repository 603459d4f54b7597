// SPDX-License-Identifier: Apache-2.0
// The bodies of step_rows.hpp.
#pragma once

#include <spotter/replay/step_rows.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY bool step_rows::seek(std::size_t n) {
    if (n >= first_ && n - first_ < closings_.size()) {
        at_ = n - first_;
        return true;
    }
    auto const behind = std::upper_bound(marks_.begin(), marks_.end(), n,
                                         [](std::size_t wanted, mark const& each) { return wanted < each.first; });
    auto place = static_cast<std::size_t>(behind - marks_.begin() - 1);
    do { read(place++); } while (!closings_.empty() && n - first_ >= closings_.size());
    at_ = n - first_;
    return !closings_.empty();
}

SPOTTER_BODY void step_rows::read(std::size_t which) {
    recorded_events events = marks_[which].events;
    first_ = marks_[which].first;
    rows_.clear();
    closings_.clear();
    closing now{};
    auto const more = [&] {
        bool const full = rows_.bytes() >= most_bytes || closings_.size() >= most_closings;
        return (!full || now.first != rows_.size()) && first_ + closings_.size() != run_.steps().size();
    };
    events.advance(more, recorded_sink{[&](recorded_attempt) { now.begin = rows_.size(); },
                                       [&](recorded_row const& it) {
                                           if (it.row.kind != row_kind::finding) { rows_.push(it); }
                                       },
                                       [&](rows::close const& end) {
                                           now.end = rows_.size();
                                           now.attempt = events.attempt() == unknown_attempt ? 0 : events.attempt();
                                           now.time = end.time;
                                           now.step = end.step;
                                           now.ordinal = end.ordinal;
                                           closings_.push_back(now);
                                           now.first = now.begin = rows_.size();
                                       }});
    if (which + 1 == marks_.size() && !closings_.empty()) { marks_.push_back({first_ + closings_.size(), events}); }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
