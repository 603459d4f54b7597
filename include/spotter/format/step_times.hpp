// SPDX-License-Identifier: Apache-2.0
// Format (L1): when steps were begun and closed, by the clock of the thread that trains: many of them in one row.
#pragma once

#include <spotter/format/buffer.hpp>
#include <spotter/format/bytes.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace layout {
inline constexpr std::uint64_t timed_steps_limit = 65536;             // in one row
inline constexpr std::uint64_t short_step_nanoseconds = 10'000;       // steps below it may share one time
inline constexpr std::uint64_t timed_limit = std::uint64_t{1} << 62;  // nanoseconds; beyond it nothing is a time
}  // namespace layout

// Of one closed step; nanoseconds since 1970.
struct step_time {
    std::uint64_t ordinal = 0;  // closes of the worker before it
    std::uint64_t begun = 0;    // not before the close before it
    std::uint64_t closed = 0;   // not before begun
};

// Steps, one after the other, into the body of a `times` row. A step that takes 10 µs or more, from the close before it
// to its own, is kept to the nanosecond; shorter ones that follow one another share what they took together: some
// billionths of a byte each, where a time of its own would be as large as the value that the step is about.
class times_packer {
public:
    // Whether it goes into this row: ordinals follow one another, times do not decrease.
    [[nodiscard]] bool takes(step_time const& it) const noexcept;
    // False where memory is exhausted.
    [[nodiscard]] bool add(step_time const& it) noexcept;

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // Bytes that the body takes at most.
    [[nodiscard]] std::size_t size() const noexcept;
    // The body of the row; valid until the next call. Empty where memory is exhausted.
    [[nodiscard]] byte_view seal() noexcept;
    void reset() noexcept;  // forgets the steps, keeps the memory

private:
    enum class kind : std::uint8_t { exact = 0, even = 1 };

    // What is collected of steps of one kind, behind their number.
    [[nodiscard]] bool put_stretch() noexcept;

    byte_buffer done_, exact_, out_;
    kind kind_ = kind::exact;
    std::uint64_t in_stretch_ = 0, waited_ = 0, lasted_ = 0;
    std::uint64_t first_ = 0, count_ = 0, begun_ = 0, last_ = 0;
};

// Reads such a body, never outside it. Garbage ends it early, and `bad()` says so.
class times_reader {
public:
    explicit times_reader(byte_view body) noexcept;

    [[nodiscard]] std::uint64_t first_ordinal() const noexcept { return first_; }  // of the first step in it
    // Steps that it says it has; 0 where its head is malformed.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] bool next(step_time& out) noexcept;              // in order; false at the end and at garbage
    [[nodiscard]] bool bad() const noexcept { return in_.bad(); }  // it ended early

private:
    byte_reader in_;
    std::uint64_t first_ = 0, count_ = 0, taken_ = 0;
    std::uint64_t closed_ = 0;  // of the step before; at first when the first was begun
    std::uint64_t in_stretch_ = 0, left_ = 0, from_ = 0, waited_ = 0, lasted_ = 0;
    bool even_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/step_times.ipp>
#endif
