// SPDX-License-Identifier: Apache-2.0
// Format (L1): what is in a steps row, without unpacking it: its steps, and how often it has which id.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/steps_reader.hpp>

#include <iterator>

namespace spotter::inline SPOTTER_ABI {

// A steps row of a few bytes may stand for a hundred million rows: those of which only counts were kept take none. Whoever lists what
// is in it keeps this instead; work and memory are bounded by its bytes and its steps (65536 at most), not by its rows. It says what
// steps_reader would find, but nothing of the step in which a malformed row ends. Holds a view.
class steps_outline {
    struct shape {  // a template
        byte_view items{};
        std::uint64_t rows = 0, bytes = 0;  // that a step has of it; the bytes where they are the same for each
        std::uint64_t steps = 0;            // that take it
        bool known = false, bad = false, fixed = true;
    };
    struct item {
        layout::packed what{};
        tensor_id id = 0;
        std::uint64_t rows = 0, bytes = 0;
        std::uint32_t mask = 0;
        bool fixed = true;
    };

public:
    steps_outline() noexcept = default;
    explicit steps_outline(byte_view body) noexcept : size_{body.size()} {
        byte_reader in{body};
        told_ = in.varint(layout::packed_steps_limit);
        ordinal_ = in.varint();
        first_time_ = in.fixed<double>();
        last_time_ = in.fixed<double>();
        runs_left_ = in.varint(told_);
        runs_ = in;
        for (std::uint64_t i = 0; i < runs_left_; ++i) { (void)steps_reader::take_run(in); }
        templates_ = in.varint(told_);
        lacks_memory_ = !shapes_.grow(static_cast<std::size_t>(templates_));
        for (std::uint64_t i = 0; i < templates_ && !lacks_memory_; ++i) {
            shapes_[static_cast<std::size_t>(i)].items = in.raw(in.varint());
        }
        numbers_ = in;
        for (std::uint64_t i = 0; i < told_ && templates_ > 1; ++i) { (void)in.varint(templates_ - 1); }
        if (!in.bad() && templates_ > 0 && !lacks_memory_) { measure(in); }
    }

    // Closed steps in it, and the observations and scalars of those.
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
    [[nodiscard]] bool bad() const noexcept { return steps_ < told_ || told_ == 0; }
    [[nodiscard]] bool lacks_memory() const noexcept { return lacks_memory_; }
    [[nodiscard]] std::uint64_t first_ordinal() const noexcept { return ordinal_; }
    // All that it should have, and between which times: detail::packed_time.
    [[nodiscard]] std::uint64_t told_steps() const noexcept { return told_; }
    [[nodiscard]] double first_time() const noexcept { return first_time_; }
    [[nodiscard]] double last_time() const noexcept { return last_time_; }
    // Of the step with that place in it.
    [[nodiscard]] double time(std::uint64_t at) const noexcept {
        return detail::packed_time(first_time_, last_time_, at, told_);
    }
    // It has more rows than bytes: they are not to be listed one by one.
    [[nodiscard]] bool is_dense() const noexcept { return rows_ > size_; }

    // Steps of a mode at even distances, all of which hold something, or none does: take(the first, distance, its place, count, holds).
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
    // The rows of a step that some step has: take(id, is a scalar, steps that have it). An id may come several times.
    template <class Take>
    void each_id(Take&& take) const {
        for (std::size_t number = 0; number < templates_; ++number) {
            shape const& mine = shapes_[number];
            if (mine.steps == 0) { continue; }
            for (byte_reader in{mine.items}; in.left() > 0;) {
                item const it = take_item(in);
                for (std::uint64_t i = 0; i < it.rows; ++i) {
                    take(static_cast<tensor_id>(it.id + i), is_scalar(it), mine.steps);
                }
            }
        }
    }

    // One row of an id: of which step, with which place among the steps and among all rows.
    struct found_row {
        step_id step{};
        std::uint64_t at = 0;
        std::uint32_t part = 0;
        bool scalar = false;
    };
    // The rows of one id, in order. The outline must outlive it.
    class rows_of {
    public:
        rows_of(steps_outline const& from, tensor_id id) noexcept
            : from_{&from}, id_{id}, runs_{from.runs_}, numbers_{from.numbers_} {}
        [[nodiscard]] bool next(found_row& out) noexcept {
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

    private:
        struct place {  // of the id among the rows of a template
            std::size_t number = ~std::size_t{0};
            std::uint64_t rows = 0, at = 0;
            bool scalar = false;
        };

        // True where all that the step has of it is in `out`; what it has several times is in items_.
        bool open_step(found_row& out) noexcept {
            if (at_ > 0) { ++part_; }  // the close of the one before
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
        [[nodiscard]] place place_in(shape const& mine, std::size_t number) const noexcept {
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

        steps_outline const* from_;
        tensor_id id_;
        byte_reader runs_, numbers_;
        byte_reader items_{byte_view{}};
        step_id step_{};
        std::uint64_t stride_ = 0, left_ = 0, at_ = 0, part_ = 0;
        place places_[8]{};  // in the templates that came last
    };

private:
    [[nodiscard]] static bool is_scalar(item const& it) noexcept {
        return it.what == layout::packed::scalars || it.what == layout::packed::timed_scalars;
    }
    [[nodiscard]] std::size_t next_number(byte_reader& numbers) const noexcept {
        return templates_ > 1 ? static_cast<std::size_t>(numbers.varint()) : 0;
    }
    // Fails the reader where it is none.
    [[nodiscard]] static item take_item(byte_reader& in) noexcept {
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
    static void look_at(shape& mine) noexcept {
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
    // How many steps are whole.
    void measure(byte_reader values) noexcept {
        byte_reader runs = runs_, numbers = numbers_;
        std::uint64_t runs_left = runs_left_, left = 0;
        if (templates_ == 1) {
            look_at(shapes_[0]);
            if (shapes_[0].fixed && !shapes_[0].bad) { return measure_alike(values.left()); }
        }
        for (; steps_ < told_; ++steps_) {
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

    // All have the same rows, of the same bytes.
    void measure_alike(std::uint64_t bytes) noexcept {
        shape& only = shapes_[0];
        byte_reader runs = runs_;
        std::uint64_t covered = 0;
        for (std::uint64_t i = 0; i < runs_left_ && covered < told_; ++i) {
            std::uint64_t const steps = steps_reader::take_run(runs).steps;
            if (steps == 0) { break; }
            covered += steps < told_ - covered ? steps : told_ - covered;
        }
        std::uint64_t const most = only.bytes == 0 ? covered : bytes / only.bytes;
        steps_ = only.steps = covered < most ? covered : most;
        rows_ = steps_ * only.rows;
    }

    std::size_t size_ = 0;
    byte_reader runs_{byte_view{}}, numbers_{byte_view{}};
    slots<shape> shapes_{};
    std::uint64_t told_ = 0, steps_ = 0, runs_left_ = 0, templates_ = 0, rows_ = 0;
    std::uint64_t ordinal_ = 0;
    double first_time_ = 0, last_time_ = 0;
    bool lacks_memory_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI
