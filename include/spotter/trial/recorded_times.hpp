// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the begin and close of recorded steps, by the training thread's clock.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/format/step_times.hpp>
#include <spotter/trial/entry_list.hpp>

#include <optional>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A closed step with its times, in seconds since 1970 by a clock that does not jump.
struct timed_step {
    step_id step{};                // the closed step
    std::uint64_t ordinal = 0;     // among the worker's closes
    double begun = 0, closed = 0;  // in seconds since 1970
    // From the previous close in any mode to its own; from its own begin if that is unknown.
    double seconds = 0;
    double inside = 0;         // the part since its begin
    bool first = false;        // the first of an attempt, or after a step whose time was lost
    std::uint32_t worker = 0;  // of the step
};

// By ordinal. Rows stay in the record and are read on demand. The same step again, or the next one, needs no search.
class recorded_times {
public:
    // One row of times.
    struct stretch {
        std::uint64_t first = 0, count = 0;  // first ordinal, and number of steps
        std::uint32_t attempt = 0;           // that closed them
        row_place place{};                   // of the row
    };
    // The times of one step, in nanoseconds since 1970.
    struct found {
        step_time own{};           // its begin and close
        std::uint64_t before = 0;  // close of the step before
        bool has_before = false;   // `before` is known: a step of the same attempt
    };

    // Sets the source of the rows. Call it before the first `find`.
    void read_from(row_source source) noexcept { source_ = source; }
    // Adds a row. Ignored if it does not follow the rows before: no writer makes such rows.
    void add(stretch const& more);
    void clear() noexcept;

    [[nodiscard]] bool empty() const noexcept { return stretches_.empty(); }
    // None if there is no time: the writer was older than this feature, the row is lost, or no clock was read.
    [[nodiscard]] std::optional<found> find(std::uint64_t ordinal) const;
    // The same as a timed_step.
    [[nodiscard]] std::optional<timed_step> find(step_id step, std::uint64_t ordinal, std::uint32_t worker) const;

private:
    void open(std::size_t which) const;
    [[nodiscard]] bool read_to(std::size_t which, std::uint64_t ordinal, step_time& out) const;

    std::vector<stretch> stretches_{};  // sorted by first ordinal
    row_source source_{};
    // The row found last, and the reader behind its last time. mutable: a trial has one thread.
    mutable std::size_t open_ = ~std::size_t{0};
    mutable std::vector<std::byte> body_{};  // a copy of the row: its segment may be truncated or mapped elsewhere
    mutable times_reader reader_{byte_view{}};
    mutable step_time last_{};
    mutable bool has_last_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
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

#endif
