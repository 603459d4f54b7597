// SPDX-License-Identifier: Apache-2.0
// Trial (L4): when the steps of a record were begun and closed, on the thread that trained.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/format/step_times.hpp>
#include <spotter/trial/entry_list.hpp>

#include <optional>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A closed step, its times in seconds since 1970 by a clock that does not jump.
struct timed_step {
    step_id step{};                // which
    std::uint64_t ordinal = 0;     // among the closings of its worker
    double begun = 0, closed = 0;  // when; seconds since 1970
    // From the close before it, whatever its mode, to its own; where that is not known from its begin.
    double seconds = 0;
    double inside = 0;         // of these from its begin on
    bool first = false;        // of an attempt, or behind a step of which the record lost the time
    std::uint32_t worker = 0;  // whose it is
};

// By ordinal. The rows are kept where they are, and read as they are asked for: one that is asked for again, or for the
// step behind the one before, costs no search.
class recorded_times {
public:
    // A row of times.
    struct stretch {
        std::uint64_t first = 0, count = 0;  // the first ordinal, and of how many steps
        std::uint32_t attempt = 0;           // that closed them
        row_place place{};                   // where the row is
    };
    // Of one step; nanoseconds since 1970.
    struct found {
        step_time own{};           // when it was begun and closed
        std::uint64_t before = 0;  // when the step before it was closed
        bool has_before = false;   // in the same attempt
    };

    // Where the rows are. Before the first `find`.
    void read_from(row_source source) noexcept { source_ = source; }
    // What does not go on where the ones before end is of no writer, and left out.
    void add(stretch const& more);
    void clear() noexcept;

    [[nodiscard]] bool empty() const noexcept { return stretches_.empty(); }
    // None where the record says nothing of it: it is older than its writer's clock, the row is lost, or no clock was
    // read.
    [[nodiscard]] std::optional<found> find(std::uint64_t ordinal) const;
    // As a step of the run.
    [[nodiscard]] std::optional<timed_step> find(step_id step, std::uint64_t ordinal, std::uint32_t worker) const;

private:
    void open(std::size_t which) const;
    [[nodiscard]] bool read_to(std::size_t which, std::uint64_t ordinal, step_time& out) const;

    std::vector<stretch> stretches_{};  // by their first ordinal
    row_source source_{};
    // Where the last one was found, and what comes behind it. A trial is one thread's.
    mutable std::size_t open_ = ~std::size_t{0};
    mutable std::vector<std::byte> body_{};  // the row's: its segment may be cut, or be elsewhere after a refresh
    mutable times_reader reader_{byte_view{}};
    mutable step_time last_{};
    mutable bool has_last_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/recorded_times.ipp>
#endif
