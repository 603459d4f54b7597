// SPDX-License-Identifier: Apache-2.0
// Format (L1): the rows of steps that were packed into one row, one after the other, as if they stood there themselves.
#pragma once

#include <spotter/format/decode.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace layout {
// What an item of a template stands for. `finite_summary` leaves out three zeros: no element is a NaN or infinite.
enum class packed : std::uint8_t { scalars = 1, timed_scalars = 2, summary = 3, finite_summary = 4 };

inline constexpr std::uint64_t packed_steps_limit = 65536;  // in one row
}  // namespace layout

namespace detail {

// What encode_summary writes of fixed size, without the part of a delta; all but the hash follow one another.
[[nodiscard]] inline std::size_t summary_doubles(std::uint32_t kept) noexcept {
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
[[nodiscard]] inline std::size_t summary_bytes(std::uint32_t kept) noexcept {
    return (summary_doubles(kept) + ((kept & stored_terms::hash) != 0 ? 1 : 0)) * sizeof(double);
}
// The writer's clock at one of `count` steps, between the first and the last close in equal parts.
[[nodiscard]] inline double packed_time(double first, double last, std::uint64_t at, std::uint64_t count) noexcept {
    double const share = count > 1 ? static_cast<double>(at) / static_cast<double>(count - 1) : 0;
    return at + 1 == count ? last : first + (last - first) * share;
}

// Steps over what encode_summary writes behind the count; `finite`: without the counts of NaN and infinities.
inline void skip_summary(byte_reader& in, std::uint32_t kept, bool finite) noexcept {
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

}  // namespace detail

// One row out of a steps row. `rest` is what differs from step to step: a scalar's value and time, a summary behind its count.
struct packed_row {
    row_kind kind{};  // observe, scalar or close
    layout::packed what{};
    tensor_id id = no_tensor;
    step_id step{};
    std::uint64_t ordinal = 0;
    double time = 0;           // of a close
    dtype type = dtype::none;  // of a scalar
    std::uint32_t mask = 0;    // of a summary, as is the next
    std::uint64_t count = 0;
    byte_view rest{};
};

// The same row as it would stand alone; `into` must have room for observe_limit bytes. Its length.
[[nodiscard]] inline std::size_t unpack(packed_row const& row, std::byte* into) noexcept {
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

// Reads the body of a steps row, never outside it. Garbage ends it early, and `bad()` says so. At most packed_steps_limit closes
// come out of it, each behind the rows of one of its templates; a summary of which only counts were kept has no byte of its own.
class steps_reader {
public:
    steps_reader() noexcept = default;
    explicit steps_reader(byte_view body) noexcept : values_{body} {
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

    // The runs of steps in such a body, without what is in them: take(first, last).
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
        mode which{};
        std::uint64_t index = 0, stride = 0, steps = 0;
    };
    [[nodiscard]] static run take_run(byte_reader& in) noexcept {
        run it{};
        it.which = in.choice(mode::predict);
        it.index = in.varint();
        it.stride = in.varint();
        it.steps = in.varint();
        return it;
    }

    // False at the end, and where the row is malformed.
    [[nodiscard]] bool next() noexcept {
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
    [[nodiscard]] packed_row const& row() const noexcept { return row_; }
    [[nodiscard]] bool bad() const noexcept { return values_.bad() || items_.bad() || runs_.bad(); }

private:
    void open_step() noexcept {
        if (run_.steps == 0) {
            run_ = take_run(runs_);
            if (runs_left_-- == 0 || run_.steps == 0) { return values_.fail(); }
        }
        row_.step = {run_.which, run_.index};
        row_.ordinal = ordinal_ + step_;
        open_template(templates_ > 1 ? numbers_.varint() : 0);
        open_ = true;
    }
    // Templates are most often taken in turn, so the search goes on from the last one.
    void open_template(std::uint64_t number) noexcept {
        if (number < next_template_ || next_template_ == 0) {
            next_template_ = 0;
            next_items_ = table_;
        }
        for (; next_template_ < number; ++next_template_) { (void)next_items_.raw(next_items_.varint()); }
        items_ = byte_reader{next_items_.raw(next_items_.varint())};
        ++next_template_;
    }
    void open_item() noexcept {
        auto const what = items_.fixed<std::uint8_t>();
        row_.what = static_cast<layout::packed>(what);
        row_.id = detail::take_id(items_);
        if (what == 1 || what == 2) {
            row_.kind = row_kind::scalar;
            in_item_ = items_.varint(no_tensor - row_.id);
            row_.type = detail::take_dtype(items_);
            if (row_.type == dtype::none || row_.type == dtype::text) { items_.fail(); }
        } else {
            row_.kind = row_kind::observe;
            row_.mask = static_cast<std::uint32_t>(items_.varint(stored_terms::all));
            row_.count = items_.varint();
            in_item_ = 1;
        }
        if (what == 0 || what > 4 || in_item_ == 0) { items_.fail(); }
        first_id_ = row_.id;
        item_rows_ = in_item_;
    }
    void take_value() noexcept {
        if (row_.kind == row_kind::scalar) {
            row_.id = static_cast<tensor_id>(first_id_ + (item_rows_ - in_item_));
            row_.rest = values_.raw(size_of(row_.type) + (row_.what == layout::packed::scalars ? 0 : sizeof(double)));
        } else {
            byte_reader const before = values_;
            detail::skip_summary(values_, row_.mask, row_.what == layout::packed::finite_summary);
            byte_reader whole = before;
            row_.rest = whole.raw(values_.bad() ? 0 : before.left() - values_.left());
            if (row_.rest.size() > observe_limit - unpacked_head) { values_.fail(); }
        }
        --in_item_;
    }
    void close_step() noexcept {
        row_.kind = row_kind::close;
        row_.rest = {};
        row_.time = detail::packed_time(first_time_, last_time_, step_, steps_);
        run_.index += run_.stride;
        --run_.steps;
        ++step_;
        open_ = false;
    }

    static constexpr std::size_t unpacked_head = 5 * varint_limit + 8;  // of an observation, before `rest`

    byte_reader values_{byte_view{}};
    byte_reader runs_{byte_view{}};
    byte_reader table_{byte_view{}};       // of templates
    byte_reader numbers_{byte_view{}};     // which of them each step takes, if there are several
    byte_reader next_items_{byte_view{}};  // from template next_template_ on
    byte_reader items_{byte_view{}};       // left of this step's
    std::uint64_t steps_ = 0, step_ = 0, runs_left_ = 0, templates_ = 0, next_template_ = 0;
    std::uint64_t ordinal_ = 0;
    std::uint64_t in_item_ = 0, item_rows_ = 0;  // rows of the item: to come, and all
    tensor_id first_id_ = 0;
    double first_time_ = 0, last_time_ = 0;
    run run_{};
    bool open_ = false;
    packed_row row_{};
};

}  // namespace spotter::inline SPOTTER_ABI
