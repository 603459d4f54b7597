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
#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool times_packer::takes(step_time const& it) const noexcept {
    if (it.closed < it.begun || it.closed >= layout::timed_limit) { return false; }
    return count_ == 0 || (count_ < layout::timed_steps_limit && it.ordinal == first_ + count_ && it.begun >= last_);
}

SPOTTER_BODY bool times_packer::add(step_time const& it) noexcept {
    if (count_ == 0) { first_ = it.ordinal, begun_ = last_ = it.begun; }
    std::uint64_t const waited = it.begun - last_, lasted = it.closed - it.begun;
    kind const mine = waited + lasted < layout::short_step_nanoseconds ? kind::even : kind::exact;
    if (mine != kind_ && !put_stretch()) { return false; }
    kind_ = mine;
    if (mine == kind::exact) {
        std::byte* const at = exact_.prepare(2 * varint_limit);
        if (at == nullptr) { return false; }
        byte_writer out{at, 2 * varint_limit};
        out.varint(waited);
        out.varint(lasted);
        exact_.grow_by(out.size());
    }
    waited_ += waited;
    lasted_ += lasted;
    ++in_stretch_;
    ++count_;
    last_ = it.closed;
    return true;
}

SPOTTER_BODY bool times_packer::put_stretch() noexcept {
    if (in_stretch_ == 0) { return true; }
    std::byte* const at = done_.prepare(3 * varint_limit + exact_.size());
    if (at == nullptr) { return false; }
    byte_writer out{at, 3 * varint_limit + exact_.size()};
    out.varint(in_stretch_ << 1 | static_cast<std::uint64_t>(kind_));
    if (kind_ == kind::exact) {
        out.raw(exact_.view());
    } else {
        out.varint(waited_);
        out.varint(lasted_);
    }
    done_.grow_by(out.size());
    exact_.clear();
    in_stretch_ = waited_ = lasted_ = 0;
    return true;
}

SPOTTER_BODY std::size_t times_packer::size() const noexcept {
    return empty() ? 0 : 5 * varint_limit + sizeof(std::uint64_t) + done_.size() + exact_.size();
}

SPOTTER_BODY byte_view times_packer::seal() noexcept {
    out_.clear();
    if (!put_stretch()) { return {}; }
    std::size_t const room = size();
    byte_writer out{out_.prepare(room), out_.failed() ? 0 : room};
    out.varint(first_);
    out.varint(count_);
    out.fixed(begun_);
    out.raw(done_.view());
    return out.full() ? byte_view{} : out.view();
}

SPOTTER_BODY void times_packer::reset() noexcept {
    done_.clear();
    exact_.clear();
    in_stretch_ = waited_ = lasted_ = count_ = 0;
    kind_ = kind::exact;
}

SPOTTER_BODY times_reader::times_reader(byte_view body) noexcept : in_{body} {
    first_ = in_.varint();
    count_ = in_.varint(layout::timed_steps_limit);
    closed_ = in_.fixed<std::uint64_t>();
    if (count_ == 0 || closed_ >= layout::timed_limit) { in_.fail(); }
    if (in_.bad()) { count_ = 0; }
}

SPOTTER_BODY bool times_reader::next(step_time& out) noexcept {
    if (in_.bad() || taken_ == count_) { return false; }
    if (left_ == 0) {
        std::uint64_t const head = in_.varint();
        even_ = (head & 1) != 0;
        in_stretch_ = left_ = head >> 1;
        if (left_ == 0 || left_ > count_ - taken_) {
            in_.fail();
            return false;
        }
        from_ = closed_;
        if (even_) {
            waited_ = in_.varint(layout::timed_steps_limit * layout::short_step_nanoseconds);
            lasted_ = in_.varint(layout::timed_steps_limit * layout::short_step_nanoseconds);
        }
    }
    out.ordinal = first_ + taken_;
    if (even_) {
        std::uint64_t const at = in_stretch_ - left_, both = waited_ + lasted_;
        out.begun = from_ + (at * both + waited_) / in_stretch_;
        closed_ = from_ + (at + 1) * both / in_stretch_;
    } else {
        out.begun = closed_ + in_.varint(layout::timed_limit);
        closed_ = out.begun + in_.varint(layout::timed_limit);
    }
    if (in_.bad() || closed_ >= layout::timed_limit) {
        in_.fail();
        return false;
    }
    out.closed = closed_;
    --left_;
    ++taken_;
    return true;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
