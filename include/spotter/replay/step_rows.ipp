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
    mark from = marks_[which];
    first_ = from.first;
    bytes_.clear();
    rows_.clear();
    closings_.clear();
    closing now{0, 0, 0, from.attempt, 0, {}, 0};
    run_.walk(from.place, [&](std::uint32_t segment, row_view row) {
        bool const full = bytes_.size() >= most_bytes || closings_.size() >= most_closings;
        if ((full && now.first == rows_.size()) || first_ + closings_.size() == run_.steps().size()) { return false; }
        if (std::uint32_t const its = run_.attempt_of(segment); its != now.attempt && its != unknown_attempt) {
            now.begin = rows_.size();
            now.attempt = its;
        }
        switch (row.kind) {
            case row_kind::declare:
            case row_kind::feature:
            case row_kind::observe:
            case row_kind::scalar:
                rows_.push_back({row.kind, segment, bytes_.size(), row.body.size()});
                bytes_.insert(bytes_.end(), row.body.begin(), row.body.end());
                break;
            case row_kind::close: {
                rows::close end;
                if (decode(row, end)) { break; }
                now.end = rows_.size();
                now.time = end.time;
                now.step = end.step;
                now.ordinal = end.ordinal;
                closings_.push_back(now);
                now.first = now.begin = rows_.size();
                break;
            }
            default:
                break;
        }
        return true;
    });
    if (which + 1 == marks_.size() && !closings_.empty()) {
        marks_.push_back({first_ + closings_.size(), from.place, now.attempt});
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
