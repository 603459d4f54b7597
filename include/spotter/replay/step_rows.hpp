// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the rows of one worker's record, step by step; cheapest in order.
#pragma once

#include <spotter/trial/recorded.hpp>
#include <spotter/trial/recorded_events.hpp>
#include <spotter/trial/step_list.hpp>

#include <cstdint>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A step has one place, in whichever records it is. If a record closed it several times (a rewind, a resumed run), its
// last close matches the last close of the others, since the run continued from there; earlier closes are steps of
// their own, counted from the last one back. The order is that of the first record. Steps that only a later record has
// follow all that it had before.
class step_order {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFU;

    void add(step_list const& list);
    // Calls `use(step, entry)` for each, in order.
    template <class Use>
    void each(Use&& use) const {
        for (std::uint32_t entry = head_; entry != none; entry = next_[entry]) { use(steps_[entry], entry); }
    }
    // The index of a record's close for an entry; `none` where the record has no such step.
    [[nodiscard]] std::uint32_t closing(std::size_t record, std::uint32_t entry) const noexcept;

private:
    struct known {
        step_id step{};
        std::uint32_t again = 0;  // how often the record closed it again later
        std::uint32_t entry = none;
    };
    [[nodiscard]] static bool comes_first(known const& a, known const& b) noexcept;
    [[nodiscard]] std::uint32_t insert_behind(std::uint32_t last, step_id step);

    std::vector<step_id> steps_{};                        // by entry
    std::vector<std::uint32_t> next_{};                   // by entry: the one after it
    std::vector<std::vector<std::uint32_t>> closings_{};  // by record and entry
    std::vector<known> known_{};                          // sorted
    std::uint32_t head_ = none;
};

}  // namespace detail

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
#include <algorithm>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void step_order::add(step_list const& list) {
    std::vector<closed_step> const closed(list.begin(), list.end());
    std::vector<std::uint32_t> sorted(closed.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) { sorted[i] = i; }
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
        return closed[a].step != closed[b].step ? closed[a].step < closed[b].step : a > b;
    });
    std::vector<known> mine(closed.size());  // in the record's order
    std::uint32_t again = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        step_id const step = closed[sorted[i]].step;
        again = i > 0 && closed[sorted[i - 1]].step == step ? again + 1 : 0;
        mine[sorted[i]] = {step, again, none};
        auto const found = std::lower_bound(known_.begin(), known_.end(), mine[sorted[i]], comes_first);
        if (found != known_.end() && !comes_first(mine[sorted[i]], *found)) { mine[sorted[i]].entry = found->entry; }
    }
    std::vector<std::uint32_t>& places = closings_.emplace_back(steps_.size(), none);
    std::vector<std::uint32_t> rank(steps_.size());  // position of each entry so far
    std::uint32_t count = 0;
    each([&](step_id, std::uint32_t entry) { rank[entry] = ++count; });
    std::uint32_t last = none, last_rank = 0;  // the last entry of those that the record had so far
    for (std::uint32_t i = 0; i < mine.size(); ++i) {
        if (mine[i].entry == none) {
            last = mine[i].entry = insert_behind(last, mine[i].step);
        } else if (rank[mine[i].entry] > last_rank) {
            last = mine[i].entry;
            last_rank = rank[last];
        }
        if (places.size() <= mine[i].entry) { places.resize(mine[i].entry + std::size_t{1}, none); }
        places[mine[i].entry] = i;
    }
    known_.insert(known_.end(), mine.begin(), mine.end());
    std::sort(known_.begin(), known_.end(), comes_first);
    known_.erase(
        std::unique(known_.begin(), known_.end(), [](known const& a, known const& b) { return a.entry == b.entry; }),
        known_.end());
}

SPOTTER_BODY std::uint32_t step_order::closing(std::size_t record, std::uint32_t entry) const noexcept {
    std::vector<std::uint32_t> const& places = closings_[record];
    return entry < places.size() ? places[entry] : none;
}

SPOTTER_BODY bool step_order::comes_first(known const& a, known const& b) noexcept {
    return a.step != b.step ? a.step < b.step : a.again < b.again;
}

SPOTTER_BODY std::uint32_t step_order::insert_behind(std::uint32_t last, step_id step) {
    auto const fresh = static_cast<std::uint32_t>(steps_.size());
    steps_.push_back(step);
    std::uint32_t& link = last == none ? head_ : next_[last];
    std::uint32_t const behind = std::exchange(link, fresh);
    next_.push_back(behind);
    return fresh;
}

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
