// SPDX-License-Identifier: Apache-2.0
// The bodies of steps_outline.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/format/steps_outline.hpp>

#include <iterator>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY steps_outline::steps_outline(byte_view body) noexcept : size_{body.size()} {
    byte_reader in{body};
    stated_steps_ = in.varint(layout::packed_steps_limit);
    ordinal_ = in.varint();
    first_time_ = in.fixed<double>();
    last_time_ = in.fixed<double>();
    runs_left_ = in.varint(stated_steps_);
    runs_ = in;
    for (std::uint64_t i = 0; i < runs_left_; ++i) { (void)steps_reader::take_run(in); }
    templates_ = in.varint(stated_steps_);
    lacks_memory_ = !shapes_.grow(as_size(templates_));
    for (std::uint64_t i = 0; i < templates_ && !lacks_memory_; ++i) {
        shapes_[as_size(i)].items = in.raw(in.varint());
    }
    numbers_ = in;
    for (std::uint64_t i = 0; i < stated_steps_ && templates_ > 1; ++i) { (void)in.varint(templates_ - 1); }
    if (!in.bad() && templates_ > 0 && !lacks_memory_) { measure(in); }
}

SPOTTER_BODY double steps_outline::time(std::uint64_t at) const noexcept {
    return detail::packed_time(first_time_, last_time_, at, stated_steps_);
}

SPOTTER_BODY bool steps_outline::rows_of::next(found_row& out) noexcept {
    for (;;) {
        while (items_.left() > 0) {
            item const it = take_item(items_);
            std::uint64_t const before = part_;
            part_ += it.rows;
            if (id_ < it.id || id_ - it.id >= it.rows) { continue; }
            out = {step_, at_ - 1, static_cast<std::uint32_t>(before + (id_ - it.id)), is_scalar(it)};
            return true;
        }
        if (at_ == from_->steps_) { return false; }
        if (open_step(out)) { return true; }
    }
}

SPOTTER_BODY bool steps_outline::rows_of::open_step(found_row& out) noexcept {
    if (at_ > 0) { ++part_; }  // skip the close of the previous step
    if (left_ == 0) {
        auto const run = steps_reader::take_run(runs_);
        step_ = {run.which, run.index};
        stride_ = run.stride;
        left_ = run.steps;
    } else {
        step_.index += stride_;
    }
    --left_;
    ++at_;
    std::size_t const number = from_->next_number(numbers_);
    shape const& mine = from_->shapes_[number];
    place& its = places_[number % std::size(places_)];
    if (its.number != number) { its = place_in(mine, number); }
    if (its.rows > 1) {
        items_ = byte_reader{mine.items};
        return false;
    }
    out = {step_, at_ - 1, static_cast<std::uint32_t>(part_ + its.at), its.scalar};
    part_ += mine.rows;
    return its.rows == 1;
}

SPOTTER_BODY steps_outline::rows_of::place steps_outline::rows_of::place_in(shape const& mine,
                                                                            std::size_t number) const noexcept {
    place its{number};
    std::uint64_t before = 0;
    for (byte_reader in{mine.items}; in.left() > 0;) {
        item const it = take_item(in);
        if (id_ >= it.id && id_ - it.id < it.rows) {
            its.at = before + (id_ - it.id);
            its.scalar = is_scalar(it);
            ++its.rows;
        }
        before += it.rows;
    }
    return its;
}

SPOTTER_BODY bool steps_outline::is_scalar(item const& it) noexcept {
    return it.what == layout::packed::scalars || it.what == layout::packed::timed_scalars;
}

SPOTTER_BODY std::size_t steps_outline::next_number(byte_reader& numbers) const noexcept {
    return templates_ > 1 ? as_size(numbers.varint()) : 0;
}

SPOTTER_BODY steps_outline::item steps_outline::take_item(byte_reader& in) noexcept {
    item it{};
    auto const what = in.fixed<std::uint8_t>();
    it.what = static_cast<layout::packed>(what);
    it.id = detail::take_id(in);
    if (is_scalar(it)) {
        it.rows = in.varint(no_tensor - it.id);
        dtype const type = detail::take_dtype(in);
        if (type == dtype::none || type == dtype::text) { in.fail(); }
        it.bytes = it.rows * (size_of(type) + (it.what == layout::packed::scalars ? 0 : sizeof(double)));
    } else {
        it.mask = static_cast<std::uint32_t>(in.varint(stored_terms::all));
        (void)in.varint();
        it.rows = 1;
        std::uint32_t const varying = stored_terms::zeros | stored_terms::delta |
                                      (it.what == layout::packed::summary ? stored_terms::nonfinite : 0);
        it.fixed = (it.mask & varying) == 0;
        if (it.fixed) { it.bytes = detail::summary_bytes(it.mask); }
    }
    if (what == 0 || what > 4 || it.rows == 0) { in.fail(); }
    return it;
}

SPOTTER_BODY void steps_outline::look_at(shape& mine) noexcept {
    mine.known = true;
    byte_reader in{mine.items};
    while (in.left() > 0) {
        item const it = take_item(in);
        mine.rows += it.rows;
        mine.bytes += it.bytes;
        mine.fixed = mine.fixed && it.fixed;
    }
    mine.bad = in.bad();
}

SPOTTER_BODY void steps_outline::measure(byte_reader values) noexcept {
    byte_reader runs = runs_, numbers = numbers_;
    std::uint64_t runs_left = runs_left_, left = 0;
    if (templates_ == 1) {
        look_at(shapes_[0]);
        if (shapes_[0].fixed && !shapes_[0].bad) { return measure_alike(values.left()); }
    }
    for (; steps_ < stated_steps_; ++steps_) {
        if (left == 0) {
            if (runs_left-- == 0) { return; }
            left = steps_reader::take_run(runs).steps;
            if (left == 0) { return; }
        }
        --left;
        shape& mine = shapes_[next_number(numbers)];
        if (!mine.known) { look_at(mine); }
        if (mine.bad) { return; }
        if (mine.fixed) {
            (void)values.raw(mine.bytes);
        } else {
            for (byte_reader in{mine.items}; in.left() > 0;) {
                item const it = take_item(in);
                if (it.fixed) {
                    (void)values.raw(it.bytes);
                } else {
                    detail::skip_summary(values, it.mask, it.what == layout::packed::finite_summary);
                }
            }
        }
        if (values.bad()) { return; }
        ++mine.steps;
        rows_ += mine.rows;
    }
}

SPOTTER_BODY void steps_outline::measure_alike(std::uint64_t bytes) noexcept {
    shape& only = shapes_[0];
    byte_reader runs = runs_;
    std::uint64_t covered = 0;
    for (std::uint64_t i = 0; i < runs_left_ && covered < stated_steps_; ++i) {
        std::uint64_t const steps = steps_reader::take_run(runs).steps;
        if (steps == 0) { break; }
        covered += steps < stated_steps_ - covered ? steps : stated_steps_ - covered;
    }
    std::uint64_t const most = only.bytes == 0 ? covered : bytes / only.bytes;
    steps_ = only.steps = covered < most ? covered : most;
    rows_ = steps_ * only.rows;
}

}  // namespace spotter::inline SPOTTER_ABI
