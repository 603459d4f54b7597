// SPDX-License-Identifier: Apache-2.0
// Format (L1): the content of a steps row without unpacking it: its steps, and the ids of their rows with counts.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/steps_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

// A steps row of a few bytes may hold a hundred million rows, because a row with only counts takes no bytes. An outline
// lists its content with work and memory bounded by its bytes and its steps (65536 at most), not by its rows. It finds
// what steps_reader would find, except in a step that ends with a malformed row. Holds a view of the body.
class steps_outline {
    struct shape {  // a template
        byte_view items{};
        std::uint64_t rows = 0, bytes = 0;  // of one step; bytes if all steps have the same
        std::uint64_t steps = 0;            // number of steps with this template
        bool known = false, bad = false, fixed = true;
    };
    using item = detail::packed_item;

public:
    steps_outline() noexcept = default;
    explicit steps_outline(byte_view body) noexcept;

    // The number of closed steps, and of their observations and scalars.
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }  // without the closes
    // It has fewer complete steps than its head says; the complete ones can be read.
    [[nodiscard]] bool bad() const noexcept { return steps_ < stated_steps_ || stated_steps_ == 0; }
    // Memory was exhausted: the outline is empty, as for a malformed row.
    [[nodiscard]] bool lacks_memory() const noexcept { return lacks_memory_; }
    [[nodiscard]] std::uint64_t first_ordinal() const noexcept { return ordinal_; }  // of its first close
    // The number of steps in its head, from which detail::packed_time interpolates.
    [[nodiscard]] std::uint64_t stated_steps() const noexcept { return stated_steps_; }
    [[nodiscard]] double first_time() const noexcept { return first_time_; }  // of its first close; seconds since 1970
    // Of its last close; the times in between are interpolated.
    [[nodiscard]] double last_time() const noexcept { return last_time_; }
    // Of the step with that number in the row.
    [[nodiscard]] double time(std::uint64_t at) const noexcept;
    // It has more rows than bytes: do not list them one by one.
    [[nodiscard]] bool is_dense() const noexcept { return rows_ > size_; }

    // Calls take(first step, distance, its number, count, holds) for steps of a mode at even distances, if all of them
    // hold rows, or none does.
    template <class Take>
    void each_run(Take&& take) const {
        byte_reader runs = runs_, numbers = numbers_;
        for (std::uint64_t at = 0; at < steps_;) {
            auto const run = steps_reader::take_run(runs);
            std::uint64_t const count = run.steps < steps_ - at ? run.steps : steps_ - at;
            for (std::uint64_t i = 0; i < count;) {
                std::uint64_t const begin = i++;
                bool const holds = shapes_[next_number(numbers)].rows > 0;
                if (templates_ == 1) { i = count; }
                for (; i < count; ++i) {
                    byte_reader ahead = numbers;
                    if ((shapes_[next_number(ahead)].rows > 0) != holds) { break; }
                    numbers = ahead;
                }
                take(step_id{run.which, run.index + begin * run.stride}, run.stride, at + begin, i - begin, holds);
            }
            at += count;
        }
    }
    // Calls take(id, is a scalar, number of steps) for the rows in the steps. An id may come several times.
    template <class Take>
    void each_id(Take&& take) const {
        for (std::size_t number = 0; number < templates_; ++number) {
            shape const& mine = shapes_[number];
            if (mine.steps == 0) { continue; }
            for (byte_reader in{mine.items}; in.left() > 0;) {
                item const it = detail::take_item(in);
                for (std::uint64_t i = 0; i < it.rows; ++i) {
                    take(static_cast<tensor_id>(it.id + i), it.is_scalar(), mine.steps);
                }
            }
        }
    }

    // One row of an id.
    struct found_row {
        step_id step{};          // of the row
        std::uint64_t at = 0;    // number of the step in the steps row, from 0
        std::uint32_t part = 0;  // row_view::part
        bool scalar = false;     // false: an observation
    };
    // Iterates over the rows of one id, in order. The outline must outlive it.
    class rows_of {
    public:
        rows_of(steps_outline const& from, tensor_id id) noexcept
            : from_{&from}, id_{id}, runs_{from.runs_}, numbers_{from.numbers_} {}
        [[nodiscard]] bool next(found_row& out) noexcept;  // false at the end

    private:
        struct place {  // of the id's rows in a template
            std::size_t number = ~std::size_t{0};
            std::uint64_t rows = 0, at = 0;
            bool scalar = false;
        };

        // True if `out` has the only row of the id in the step; several rows are in items_.
        bool open_step(found_row& out) noexcept;
        [[nodiscard]] place place_in(shape const& mine, std::size_t number) const noexcept;

        steps_outline const* from_;
        tensor_id id_;
        byte_reader runs_, numbers_;
        byte_reader items_{byte_view{}};
        step_id step_{};
        std::uint64_t stride_ = 0, left_ = 0, at_ = 0, part_ = 0;
        place places_[8]{};  // in the latest templates
    };

private:
    [[nodiscard]] std::size_t next_number(byte_reader& numbers) const noexcept;
    static void look_at(shape& mine) noexcept;
    // Counts the complete steps.
    void measure(byte_reader values) noexcept;

    // The case that all steps have the same rows with the same number of bytes.
    void measure_alike(std::uint64_t bytes) noexcept;

    std::size_t size_ = 0;
    byte_reader runs_{byte_view{}}, numbers_{byte_view{}};
    slot_array<shape> shapes_{};
    std::uint64_t stated_steps_ = 0, steps_ = 0, runs_left_ = 0, templates_ = 0, rows_ = 0;
    std::uint64_t ordinal_ = 0;
    double first_time_ = 0, last_time_ = 0;
    bool lacks_memory_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>

#include <iterator>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY steps_outline::steps_outline(byte_view body) noexcept : size_{body.size()} {
    steps_reader const head{body};
    stated_steps_ = head.steps_, ordinal_ = head.ordinal_;
    first_time_ = head.first_time_, last_time_ = head.last_time_;
    runs_left_ = head.runs_left_, runs_ = head.runs_;
    templates_ = head.templates_, numbers_ = head.numbers_;
    lacks_memory_ = !shapes_.grow(as_size(templates_));
    if (head.bad() || lacks_memory_) { return; }
    byte_reader table = head.table_;
    for (std::size_t i = 0; i < templates_; ++i) { shapes_[i].items = table.raw(table.varint()); }
    measure(head.values_);
}

SPOTTER_BODY double steps_outline::time(std::uint64_t at) const noexcept {
    return detail::packed_time(first_time_, last_time_, at, stated_steps_);
}

SPOTTER_BODY bool steps_outline::rows_of::next(found_row& out) noexcept {
    for (;;) {
        while (items_.left() > 0) {
            item const it = detail::take_item(items_);
            std::uint64_t const before = part_;
            part_ += it.rows;
            if (id_ < it.id || id_ - it.id >= it.rows) { continue; }
            out = {step_, at_ - 1, static_cast<std::uint32_t>(before + (id_ - it.id)), it.is_scalar()};
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
        item const it = detail::take_item(in);
        if (id_ >= it.id && id_ - it.id < it.rows) {
            its.at = before + (id_ - it.id);
            its.scalar = it.is_scalar();
            ++its.rows;
        }
        before += it.rows;
    }
    return its;
}

SPOTTER_BODY std::size_t steps_outline::next_number(byte_reader& numbers) const noexcept {
    return templates_ > 1 ? as_size(numbers.varint()) : 0;
}

SPOTTER_BODY void steps_outline::look_at(shape& mine) noexcept {
    mine.known = true;
    byte_reader in{mine.items};
    while (in.left() > 0) {
        item const it = detail::take_item(in);
        mine.rows += it.rows;
        bool const fixed = it.is_of_fixed_size();
        mine.bytes += fixed ? it.rows * it.bytes() : 0;
        mine.fixed = mine.fixed && fixed;
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
                item const it = detail::take_item(in);
                if (it.is_of_fixed_size()) {
                    (void)values.raw(it.rows * it.bytes());
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
#endif
