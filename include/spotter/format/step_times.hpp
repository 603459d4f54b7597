// SPDX-License-Identifier: Apache-2.0
// Format (L1): packs the begin and close of many steps, by the training thread's clock, into one row.
#pragma once

#include <spotter/format/buffer.hpp>
#include <spotter/format/bytes.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace layout {
inline constexpr std::uint64_t timed_steps_limit = 65536;             // in one row
inline constexpr std::uint64_t short_step_nanoseconds = 10'000;       // shorter steps may share one time
inline constexpr std::uint64_t timed_limit = std::uint64_t{1} << 62;  // nanoseconds; larger values are invalid
}  // namespace layout

// The times of one closed step, in nanoseconds since 1970.
struct step_time {
    std::uint64_t ordinal = 0;  // closes of the worker before this one
    std::uint64_t begun = 0;    // not before the previous close
    std::uint64_t closed = 0;   // not before begun
};

// Packs consecutive steps into the body of a `times` row. A step of 10 µs or more, from the previous close to its own,
// is stored to the nanosecond. Consecutive shorter steps share their total time: this takes a tiny fraction of a byte
// for each, where an own time would be as large as the value that the step records.
class times_packer {
public:
    // Whether it fits into this row: its ordinal must be the next, and times must not decrease.
    [[nodiscard]] bool takes(step_time const& it) const noexcept;
    // False where memory is exhausted.
    [[nodiscard]] bool add(step_time const& it) noexcept;

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // Most bytes of the body.
    [[nodiscard]] std::size_t size() const noexcept;
    // The body of the row; valid until the next call. Empty where memory is exhausted.
    [[nodiscard]] byte_view seal() noexcept;
    void reset() noexcept;  // removes the steps, keeps the memory

private:
    enum class kind : std::uint8_t { exact = 0, even = 1 };

    // Writes the collected steps of one kind, behind their number.
    [[nodiscard]] bool put_stretch() noexcept;

    byte_buffer done_, exact_, out_;
    kind kind_ = kind::exact;
    std::uint64_t in_stretch_ = 0, waited_ = 0, lasted_ = 0;
    std::uint64_t first_ = 0, count_ = 0, begun_ = 0, last_ = 0;
};

// Reads such a body with bounds checks. Malformed input ends it early, and `bad()` is true.
class times_reader {
public:
    explicit times_reader(byte_view body) noexcept;

    [[nodiscard]] std::uint64_t first_ordinal() const noexcept { return first_; }  // of its first step
    // The number of steps in its head; 0 if the head is malformed.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] bool next(step_time& out) noexcept;              // in order; false at the end, or if malformed
    [[nodiscard]] bool bad() const noexcept { return in_.bad(); }  // it ended early

private:
    byte_reader in_;
    std::uint64_t first_ = 0, count_ = 0, taken_ = 0;
    std::uint64_t closed_ = 0;  // of the previous step; at first the begin of the first step
    std::uint64_t in_stretch_ = 0, left_ = 0, from_ = 0, waited_ = 0, lasted_ = 0;
    bool even_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/step_times.ipp>
#endif
