// SPDX-License-Identifier: Apache-2.0
// Format (L1): reads the rows of packed steps one after the other, as if they were not packed.
#pragma once

#include <spotter/format/decode.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace layout {
// The kind of a template's item. `finite_summary` omits three zeros: no element is NaN or infinite.
enum class packed : std::uint8_t { scalars = 1, timed_scalars = 2, summary = 3, finite_summary = 4 };

inline constexpr std::uint64_t packed_steps_limit = 65536;  // in one row
}  // namespace layout

namespace detail {

// An item of a template: scalars with consecutive ids, or one summary.
struct packed_item {
    layout::packed what{};
    tensor_id id = no_tensor;  // of its first row
    std::uint64_t rows = 0;
    dtype type = dtype::none;  // of scalars
    std::uint32_t mask = 0;    // of a summary
    std::uint64_t count = 0;   // of a summary: elements

    [[nodiscard]] bool is_scalar() const noexcept { return what <= layout::packed::timed_scalars; }
    // Every row of it has as many bytes.
    [[nodiscard]] bool is_of_fixed_size() const noexcept;
    // The bytes of a row, if they are fixed.
    [[nodiscard]] std::size_t bytes() const noexcept;
};
// Fails the reader if it is malformed.
[[nodiscard]] packed_item take_item(byte_reader& in) noexcept;

// The writer's clock at one of `count` steps, interpolated between the first and the last close.
[[nodiscard]] double packed_time(double first, double last, std::uint64_t at, std::uint64_t count) noexcept;

// Skips the output of encode_summary after the count; `finite`: without the counts of NaN and infinities.
void skip_summary(byte_reader& in, std::uint32_t kept, bool finite) noexcept;

}  // namespace detail

// A packed row. `rest` is what differs from step to step: a scalar's value and time, or a summary after its count.
struct packed_row {
    row_kind kind{};  // observe, scalar or close
    layout::packed what{};
    tensor_id id = no_tensor;   // except for a close
    step_id step{};             // its step
    std::uint64_t ordinal = 0;  // of a close: number of closes before it
    double time = 0;            // of a close
    dtype type = dtype::none;   // of a scalar
    std::uint32_t mask = 0;     // of a summary
    std::uint64_t count = 0;    // of a summary: elements
    byte_view rest{};           // a view of the body; empty for a close
};

// Writes the row in unpacked form; `into` must have room for observe_limit bytes. Returns its length.
[[nodiscard]] std::size_t unpack(packed_row const& row, std::byte* into) noexcept;

// Reads the body of a steps row with bounds checks. Malformed input ends it early, and `bad()` is true. It has at most
// packed_steps_limit closes, each after the rows of one template. A summary with only counts has no bytes of its own.
class steps_reader {
    friend class steps_outline;

public:
    steps_reader() noexcept = default;
    explicit steps_reader(byte_view body) noexcept;

    // Calls take(first, last) for the runs of steps in a body, without reading their rows.
    template <class Take>
    static void each_run(byte_reader in, Take&& take) noexcept {
        std::uint64_t const steps = in.varint(layout::packed_steps_limit);
        (void)in.varint();
        (void)in.raw(2 * sizeof(double));
        for (std::uint64_t left = in.varint(steps); left > 0; --left) {
            run const each = take_run(in);
            if (in.bad() || each.steps == 0) { return; }
            take(step_id{each.which, each.index}, step_id{each.which, each.index + (each.steps - 1) * each.stride});
        }
    }

    // Steps of a mode at even distances.
    struct run {
        mode which{};                                    // of all steps
        std::uint64_t index = 0, stride = 0, steps = 0;  // of the first step; distance; number of steps
    };
    [[nodiscard]] static run take_run(byte_reader& in) noexcept;  // fails the reader if malformed

    // False at the end, or if the row is malformed.
    [[nodiscard]] bool next() noexcept;
    // If all steps are alike, skips complete steps of at most `rows` rows, at the cost of one step. Returns the number
    // of rows; 0 within a step.
    [[nodiscard]] std::uint64_t skip_alike(std::uint64_t rows) noexcept;
    // Valid after `next` returned true, until the next call.
    [[nodiscard]] packed_row const& row() const noexcept { return row_; }
    // It ended early; the rows before that are valid.
    [[nodiscard]] bool bad() const noexcept { return values_.bad() || items_.bad() || runs_.bad(); }

private:
    void open_step() noexcept;
    // Templates are mostly used in turn, so the search continues from the last one.
    void open_template(std::uint64_t number) noexcept;
    void open_item() noexcept;
    void take_value() noexcept;
    void close_step() noexcept;

    static constexpr std::size_t unpacked_head = 5 * varint_limit + 8;  // of an observation, before `rest`

    byte_reader values_{byte_view{}};
    byte_reader runs_{byte_view{}};
    byte_reader table_{byte_view{}};
    byte_reader numbers_{byte_view{}};     // the template number of each step, if there are several
    byte_reader next_items_{byte_view{}};  // from template next_template_ on
    byte_reader items_{byte_view{}};       // the rest of this step's
    std::uint64_t steps_ = 0, step_ = 0, runs_left_ = 0, templates_ = 0, next_template_ = 0;
    std::uint64_t ordinal_ = 0;
    std::uint64_t in_item_ = 0;  // rows that are left of the item
    detail::packed_item item_{};
    double first_time_ = 0, last_time_ = 0;
    run run_{};
    bool open_ = false;
    packed_row row_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

// The fixed-size part of encode_summary, without the delta; all of it but the hash is contiguous.
[[nodiscard]] SPOTTER_BODY std::size_t summary_doubles(std::uint32_t kept) noexcept {
    std::size_t doubles = 0;
    for (std::uint32_t const pair : {stored_terms::range, stored_terms::abs_range}) {
        doubles += (kept & pair) != 0 ? 2 : 0;
    }
    for (std::uint32_t const one : {stored_terms::sum, stored_terms::sum_abs, stored_terms::sum_squares,
                                    stored_terms::variance, stored_terms::product}) {
        doubles += (kept & one) != 0 ? 1 : 0;
    }
    return doubles;
}

SPOTTER_BODY bool packed_item::is_of_fixed_size() const noexcept {
    std::uint32_t const varying =
        stored_terms::zeros | stored_terms::delta | (what == layout::packed::summary ? stored_terms::nonfinite : 0);
    return is_scalar() || (mask & varying) == 0;
}

SPOTTER_BODY std::size_t packed_item::bytes() const noexcept {
    if (is_scalar()) { return size_of(type) + (what == layout::packed::scalars ? 0 : sizeof(double)); }
    return (summary_doubles(mask) + ((mask & stored_terms::hash) != 0 ? 1 : 0)) * sizeof(double);
}

SPOTTER_BODY packed_item take_item(byte_reader& in) noexcept {
    packed_item it{};
    auto const what = in.fixed<std::uint8_t>();
    it.what = static_cast<layout::packed>(what);
    it.id = take_id(in);
    if (it.is_scalar()) {
        it.rows = in.varint(no_tensor - it.id);
        it.type = take_dtype(in);
        if (it.type == dtype::none || it.type == dtype::text) { in.fail(); }
    } else {
        it.mask = static_cast<std::uint32_t>(in.varint(stored_terms::all));
        it.count = in.varint();
        it.rows = 1;
    }
    if (what == 0 || what > 4 || it.rows == 0) { in.fail(); }
    return it;
}

SPOTTER_BODY double packed_time(double first, double last, std::uint64_t at, std::uint64_t count) noexcept {
    double const share = count > 1 ? static_cast<double>(at) / static_cast<double>(count - 1) : 0;
    return at + 1 == count ? last : first + (last - first) * share;
}

SPOTTER_BODY void skip_summary(byte_reader& in, std::uint32_t kept, bool finite) noexcept {
    auto const keeps = [kept](std::uint32_t term) { return (kept & term) != 0; };
    if (keeps(stored_terms::nonfinite) && !finite) {
        std::uint64_t bad = 0;
        for (int i = 0; i < 3; ++i) { bad |= in.varint(); }
        if (bad != 0) { (void)in.varint(); }
    }
    if (keeps(stored_terms::zeros)) { (void)in.varint(); }
    (void)in.raw(summary_doubles(kept) * sizeof(double));
    if (keeps(stored_terms::delta) && take_flag(in)) {
        (void)in.varint();
        (void)in.raw(3 * sizeof(double));
        (void)in.varint();
    }
    if (keeps(stored_terms::hash)) { (void)in.raw(sizeof(std::uint64_t)); }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::size_t unpack(packed_row const& row, std::byte* into) noexcept {
    quick_writer out{into};
    if (row.kind == row_kind::close) {
        detail::put_step(out, row.step);
        out.varint(0);
        out.varint(row.ordinal);
        out.fixed(row.time);
    } else if (row.kind == row_kind::observe) {
        out.fixed(std::uint8_t{0});
        out.varint(row.id);
        detail::put_step(out, row.step);
        out.varint(row.mask);
        out.varint(row.count);
        if (row.what == layout::packed::finite_summary) {
            for (int i = 0; i < 3; ++i) { out.fixed(std::uint8_t{0}); }
        }
        out.raw(row.rest);
    } else {
        rows::scalar scalar{};
        scalar.id = row.id;
        scalar.has_step = true;
        scalar.step = row.step;
        scalar.has_time = row.what != layout::packed::scalars;
        scalar.type = row.type;
        scalar.value = row.rest.first(size_of(row.type));
        encode(out, scalar);
        out.raw(row.rest.subspan(scalar.value.size()));
    }
    return out.size();
}

SPOTTER_BODY steps_reader::steps_reader(byte_view body) noexcept : values_{body} {
    steps_ = values_.varint(layout::packed_steps_limit);
    ordinal_ = values_.varint();
    first_time_ = values_.fixed<double>();
    last_time_ = values_.fixed<double>();
    runs_left_ = values_.varint(steps_);
    runs_ = values_;
    for (std::uint64_t i = 0; i < runs_left_; ++i) { (void)take_run(values_); }
    templates_ = values_.varint(steps_);
    table_ = values_;
    for (std::uint64_t i = 0; i < templates_; ++i) { (void)values_.raw(values_.varint()); }
    if (steps_ == 0 || templates_ == 0) { values_.fail(); }
    if (templates_ < 2) { return; }
    numbers_ = values_;
    for (std::uint64_t i = 0; i < steps_; ++i) { (void)values_.varint(templates_ - 1); }
}

SPOTTER_BODY steps_reader::run steps_reader::take_run(byte_reader& in) noexcept {
    run it{};
    it.which = in.choice(mode::predict);
    it.index = in.varint();
    it.stride = in.varint();
    it.steps = in.varint();
    return it;
}

SPOTTER_BODY bool steps_reader::next() noexcept {
    if (bad() || step_ == steps_) { return false; }
    if (!open_) { open_step(); }
    if (in_item_ == 0 && items_.left() > 0) { open_item(); }
    if (bad()) { return false; }
    if (in_item_ == 0) {
        close_step();
    } else {
        take_value();
    }
    return !bad();
}

SPOTTER_BODY std::uint64_t steps_reader::skip_alike(std::uint64_t rows) noexcept {
    constexpr std::uint64_t worth_it = 64;
    if (rows < worth_it || open_ || templates_ != 1) { return 0; }
    steps_reader ahead = *this;
    std::uint64_t each = 0;  // rows of a step, with its close
    do {
        if (!ahead.next() || !ahead.item_.is_of_fixed_size()) { return 0; }
        ++each;
    } while (ahead.open_);
    std::uint64_t const bytes = values_.left() - ahead.values_.left();
    std::uint64_t const skipped = (std::min)(rows / each, steps_ - step_);
    for (std::uint64_t left = skipped; left > 0;) {
        if (run_.steps == 0) {
            run_ = take_run(runs_);
            if (runs_left_-- == 0 || run_.steps == 0) {
                values_.fail();
                return 0;
            }
        }
        std::uint64_t const here = (std::min)(left, run_.steps);
        run_.index += here * run_.stride;
        run_.steps -= here;
        left -= here;
    }
    (void)values_.raw(skipped * bytes);
    step_ += skipped;
    return skipped * each;
}

SPOTTER_BODY void steps_reader::open_step() noexcept {
    if (run_.steps == 0) {
        run_ = take_run(runs_);
        if (runs_left_-- == 0 || run_.steps == 0) { return values_.fail(); }
    }
    row_.step = {run_.which, run_.index};
    row_.ordinal = ordinal_ + step_;
    open_template(templates_ > 1 ? numbers_.varint() : 0);
    open_ = true;
}

SPOTTER_BODY void steps_reader::open_template(std::uint64_t number) noexcept {
    if (number < next_template_ || next_template_ == 0) {
        next_template_ = 0;
        next_items_ = table_;
    }
    for (; next_template_ < number; ++next_template_) { (void)next_items_.raw(next_items_.varint()); }
    items_ = byte_reader{next_items_.raw(next_items_.varint())};
    ++next_template_;
}

SPOTTER_BODY void steps_reader::open_item() noexcept {
    item_ = detail::take_item(items_);
    in_item_ = item_.rows;
    row_.kind = item_.is_scalar() ? row_kind::scalar : row_kind::observe;
    row_.what = item_.what, row_.id = item_.id, row_.type = item_.type;
    row_.mask = item_.mask, row_.count = item_.count;
}

SPOTTER_BODY void steps_reader::take_value() noexcept {
    if (row_.kind == row_kind::scalar) {
        row_.id = static_cast<tensor_id>(item_.id + (item_.rows - in_item_));
        row_.rest = values_.raw(item_.bytes());
    } else {
        byte_reader const before = values_;
        detail::skip_summary(values_, row_.mask, row_.what == layout::packed::finite_summary);
        byte_reader whole = before;
        row_.rest = whole.raw(values_.bad() ? 0 : before.left() - values_.left());
        if (row_.rest.size() > observe_limit - unpacked_head) { values_.fail(); }
    }
    --in_item_;
}

SPOTTER_BODY void steps_reader::close_step() noexcept {
    row_.kind = row_kind::close;
    row_.rest = {};
    row_.time = detail::packed_time(first_time_, last_time_, step_, steps_);
    run_.index += run_.stride;
    --run_.steps;
    ++step_;
    open_ = false;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
