// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the rows of one worker's record, step by step; cheapest in order.
#pragma once

#include <spotter/trial/recorded_events.hpp>
#include <spotter/trial/step_list.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Reads ahead about 1 MiB of rows, or a thousand steps. Values are not read.
class step_rows {
public:
    explicit step_rows(worker_index const& run) : run_{run} {}

    // Moves to the n-th close of the record. False after the last one, or where rows were lost.
    [[nodiscard]] bool seek(std::size_t n);
    // Time of the current close in seconds since 1970, and its attempt.
    [[nodiscard]] double time() const noexcept { return closings_[at_].time; }
    [[nodiscard]] std::uint32_t attempt() const noexcept { return closings_[at_].attempt; }
    [[nodiscard]] step_id step() const noexcept { return closings_[at_].step; }
    [[nodiscard]] std::uint64_t ordinal() const noexcept { return closings_[at_].ordinal; }
    // Passes the events of the current close to a sink. If an attempt begins among them: those before it, and those
    // after.
    template <class Sink>
    void each_before_attempt(Sink&& sink) const {
        each(closings_[at_].first, closings_[at_].begin, sink);
    }
    template <class Sink>
    void each_event(Sink&& sink) const {
        each(closings_[at_].begin, closings_[at_].end, sink);
    }

    // Passes the events after the last close, of steps that were left open; calls `resumed()` where an attempt begins.
    template <class Sink, class Resumed>
    void each_left(Sink&& sink, Resumed&& resumed) const {
        if (run_.open_steps().empty()) { return; }
        std::size_t closings = marks_.back().first;
        recorded_events left = marks_.back().events;
        auto const is_left = [&] { return closings == run_.steps().size(); };
        left.advance(recorded_sink{[&](rows::close const&) { ++closings; },
                                   [&](recorded_attempt) {
                                       if (is_left()) { resumed(); }
                                   },
                                   [&](recorded_row const& it) {
                                       if (is_left()) { hand_over(run_, it, sink); }
                                   }});
    }

private:
    static constexpr std::size_t most_bytes = 1 << 20, most_closings = 1024;

    // Where reading can continue.
    struct mark {
        std::size_t first = 0;  // index of the next close
        recorded_events events;
    };
    struct closing {
        std::size_t first = 0, begin = 0, end = 0;  // of rows_: an attempt may begin at `begin`
        std::uint32_t attempt = 0;
        double time = 0;
        step_id step{};
        std::uint64_t ordinal = 0;
    };

    void read(std::size_t which);
    template <class Sink>
    void each(std::size_t from, std::size_t end, Sink& sink) const {
        for (std::size_t i = from; i < end; ++i) { hand_over(run_, rows_[i], sink); }
    }

    worker_index const& run_;
    // The first is the beginning of the record; the others are where a reading ended.
    std::vector<mark> marks_{mark{0, recorded_events{run_}}};
    kept_rows rows_{};
    std::vector<closing> closings_{};
    std::size_t first_ = 0;  // index of the first in closings_
    std::size_t at_ = 0;
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES

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

#endif
