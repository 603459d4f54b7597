// SPDX-License-Identifier: Apache-2.0
// The bodies of steps_reader.hpp.
#pragma once

#include <spotter/format/steps_reader.hpp>

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

SPOTTER_BODY std::size_t summary_bytes(std::uint32_t kept) noexcept {
    return (summary_doubles(kept) + ((kept & stored_terms::hash) != 0 ? 1 : 0)) * sizeof(double);
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
        if (!ahead.next() || !ahead.is_of_fixed_size()) { return 0; }
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

SPOTTER_BODY bool steps_reader::is_of_fixed_size() const noexcept {
    if (row_.kind != row_kind::observe) { return true; }
    std::uint32_t const varying = stored_terms::zeros | stored_terms::delta |
                                  (row_.what == layout::packed::summary ? stored_terms::nonfinite : 0);
    return (row_.mask & varying) == 0;
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

SPOTTER_BODY void steps_reader::take_value() noexcept {
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
