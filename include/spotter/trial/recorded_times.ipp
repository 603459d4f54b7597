// SPDX-License-Identifier: Apache-2.0
// The bodies of recorded_times.hpp.
#pragma once

#include <spotter/trial/recorded_times.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void recorded_times::add(stretch const& more) {
    bool const goes_on = stretches_.empty() || more.first >= stretches_.back().first + stretches_.back().count;
    if (goes_on) { stretches_.push_back(more); }
}

SPOTTER_BODY void recorded_times::clear() noexcept {
    stretches_.clear();
    open_ = ~std::size_t{0};
}

SPOTTER_BODY void recorded_times::open(std::size_t which) const {
    open_ = which;
    byte_view const body = source_.of(stretches_[which].place);
    body_.assign(body.begin(), body.end());
    reader_ = times_reader{body_};
    has_last_ = false;
}

SPOTTER_BODY bool recorded_times::read_to(std::size_t which, std::uint64_t ordinal, step_time& out) const {
    if (open_ != which || (has_last_ && last_.ordinal > ordinal)) { open(which); }
    while (!has_last_ || last_.ordinal < ordinal) {
        has_last_ = reader_.next(last_);
        if (!has_last_) { return false; }
    }
    out = last_;
    return true;
}

SPOTTER_BODY std::optional<recorded_times::found> recorded_times::find(std::uint64_t ordinal) const {
    auto const behind = std::upper_bound(stretches_.begin(), stretches_.end(), ordinal,
                                         [](std::uint64_t it, stretch const& each) { return it < each.first; });
    if (behind == stretches_.begin()) { return std::nullopt; }
    auto const which = static_cast<std::size_t>(behind - stretches_.begin()) - 1;
    stretch const& mine = stretches_[which];
    if (ordinal - mine.first >= mine.count) { return std::nullopt; }
    found out{};
    step_time before{};
    if (ordinal > mine.first) {
        out.has_before = read_to(which, ordinal - 1, before);
    } else if (which > 0 && stretches_[which - 1].attempt == mine.attempt &&
               stretches_[which - 1].first + stretches_[which - 1].count == ordinal) {
        out.has_before = read_to(which - 1, ordinal - 1, before);
    }
    out.before = before.closed;
    if (!read_to(which, ordinal, out.own)) { return std::nullopt; }
    return out;
}

SPOTTER_BODY std::optional<timed_step> recorded_times::find(step_id step, std::uint64_t ordinal,
                                                            std::uint32_t worker) const {
    auto const it = find(ordinal);
    if (!it) { return std::nullopt; }
    auto const seconds = [](std::uint64_t from, std::uint64_t to) {
        return to > from ? 1e-9 * static_cast<double>(to - from) : 0.0;
    };
    timed_step out{step, ordinal};
    out.begun = seconds(0, it->own.begun);
    out.closed = seconds(0, it->own.closed);
    out.inside = seconds(it->own.begun, it->own.closed);
    out.seconds = seconds(it->has_before ? it->before : it->own.begun, it->own.closed);
    out.first = !it->has_before;
    out.worker = worker;
    return out;
}

}  // namespace spotter::inline SPOTTER_ABI
