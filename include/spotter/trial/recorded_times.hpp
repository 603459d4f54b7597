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
#include <spotter/trial/recorded_times.ipp>
#endif
