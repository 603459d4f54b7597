// SPDX-License-Identifier: Apache-2.0
// Format (L1): closed steps of scalars and summaries into one row: what repeats from step to step is said once.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/steps_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

// Whether a row can be part of a packed step: a number of this step, or an observation of which statistics alone are kept. Not a
// loose scalar: its time is exact, and times never decrease, but those of packed closes are interpolated.
[[nodiscard]] inline bool is_packable(row_kind kind, byte_view body) noexcept {
    if (body.empty()) { return false; }
    auto const bits = static_cast<std::uint8_t>(body[0]);
    return kind == row_kind::scalar ? (bits & layout::scalar_step) != 0 : kind == row_kind::observe && bits == 0;
}

// Steps whose rows are alike (the same tensors in the same order, of the same types and terms) share a template; a step is then
// the number of its template and the values. Reused: `seal` gives the body of the row, `reset` begins the next.
class steps_packer {
public:
    // A step that was closed, with the rows before its close as they stand in a row frame, `values` of them. False where it does not
    // fit, and nothing has changed. What does not fit an empty packer has to be written row by row.
    [[nodiscard]] bool add(rows::close const& closed, byte_view step_rows, std::uint32_t values) noexcept {
        std::size_t const before = values_.size();
        draft_.clear();
        item_ = {};
        std::size_t number = 0;
        if (!takes(closed) || !take_rows(closed.step, step_rows) || numbers_.prepare(varint_limit) == nullptr ||
            !find_template(number)) {
            values_.cut(before);
            return false;
        }
        byte_writer into{numbers_.prepare(varint_limit), varint_limit};
        into.varint(number);
        numbers_.grow_by(into.size());
        extend_runs(closed.step);
        if (steps_++ == 0) {
            ordinal_ = closed.ordinal;
            first_time_ = closed.time;
        }
        last_time_ = closed.time;
        count_ += values;
        largest_ = (std::max)(largest_, values_.size() - before);
        return true;
    }

    [[nodiscard]] bool empty() const noexcept { return steps_ == 0; }
    [[nodiscard]] std::uint32_t steps() const noexcept { return steps_; }
    [[nodiscard]] std::uint32_t values() const noexcept { return count_; }
    // Bytes that the row's body takes at most, one more step like the others included.
    [[nodiscard]] std::size_t next_size() const noexcept {
        return fixed_limit + runs_count_ * run_limit + templates_.size() + numbers_.size() + varint_limit +
               values_.size() + largest_;
    }

    // The body of the row; valid until the next call. Empty where memory is exhausted.
    [[nodiscard]] byte_view seal() noexcept {
        out_.clear();
        std::size_t const room = next_size();
        byte_writer out{out_.prepare(room), out_.failed() ? 0 : room};
        out.varint(steps_);
        out.varint(ordinal_);
        out.fixed(first_time_);
        out.fixed(last_time_);
        out.varint(runs_count_);
        for (std::size_t i = 0; i < runs_count_; ++i) {
            run const& each = runs_[i];
            out.fixed(each.which);
            out.varint(each.index);
            out.varint(each.stride);
            out.varint(each.steps);
        }
        out.varint(templates_count_);
        out.raw(templates_.view());
        if (templates_count_ > 1) { out.raw(numbers_.view()); }
        out.raw(values_.view());
        return out.full() ? byte_view{} : out.view();
    }
    void reset() noexcept {
        values_.clear();
        templates_.clear();
        numbers_.clear();
        steps_ = count_ = 0;
        runs_count_ = templates_count_ = last_template_ = largest_ = 0;
    }

private:
    // Times between the first and the last close are interpolated, so these are not far apart.
    static constexpr double longest_seconds = 0.1;
    static constexpr std::size_t runs_limit = 32;
    static constexpr std::size_t run_limit = 1 + 3 * varint_limit;
    static constexpr std::size_t fixed_limit = 4 * varint_limit + 2 * sizeof(double);

    struct run {
        mode which{};
        std::uint64_t index = 0, stride = 0, steps = 0;
    };
    struct piece {  // of templates_: the items, behind their size
        std::size_t at = 0, size = 0;
    };
    struct item {  // scalars of consecutive ids, not yet in the draft
        layout::packed what{};
        dtype type = dtype::none;
        tensor_id first = 0;
        std::uint64_t count = 0;
    };

    [[nodiscard]] bool takes(rows::close const& closed) const noexcept {
        if (closed.left_out != 0) { return false; }
        if (steps_ == 0) { return true; }
        return steps_ < layout::packed_steps_limit && closed.time - first_time_ <= longest_seconds &&
               closed.ordinal == ordinal_ + steps_ && (runs_count_ < runs_limit || continues(closed.step));
    }
    // The last run goes on with this step.
    [[nodiscard]] bool continues(step_id step) const noexcept {
        run const& last = runs_[runs_count_ - 1];
        if (last.which != step.mode) { return false; }
        return last.steps == 1 ? step.index >= last.index : step.index == last.index + last.steps * last.stride;
    }
    void extend_runs(step_id step) noexcept {
        if (runs_count_ == 0 || !continues(step)) {
            runs_[runs_count_++] = {step.mode, step.index, 0, 1};
            return;
        }
        run& last = runs_[runs_count_ - 1];
        if (last.steps++ == 1) { last.stride = step.index - last.index; }
    }

    // The rows of a step: what repeats into the draft of a template, the rest to the values.
    [[nodiscard]] bool take_rows(step_id step, byte_view rows) noexcept {
        for (byte_reader in{rows}; in.left() > 0;) {
            auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
            byte_reader body{in.raw(in.varint())};
            bool const good = kind == row_kind::scalar ? take_scalar(step, body) : take_summary(step, body);
            if (!good || in.bad()) { return false; }
        }
        return put_scalars();
    }
    [[nodiscard]] bool take_scalar(step_id step, byte_reader& in) noexcept {
        auto const bits = in.fixed<std::uint8_t>();
        tensor_id const id = detail::take_id(in);
        if ((bits & layout::scalar_step) == 0 || detail::take_step(in) != step) { return false; }
        dtype const type = detail::take_dtype(in);
        if (type == dtype::none || type == dtype::text || in.varint() != size_of(type)) { return false; }
        auto const what = (bits & layout::scalar_time) != 0 ? layout::packed::timed_scalars : layout::packed::scalars;
        std::size_t const size = size_of(type) + (what == layout::packed::scalars ? 0 : sizeof(double));
        if (in.bad() || in.left() != size || !values_.append(in.raw(size))) { return false; }
        if (item_.count > 0 && item_.what == what && item_.type == type && item_.first + item_.count == id) {
            ++item_.count;
            return true;
        }
        if (!put_scalars()) { return false; }
        item_ = {what, type, id, 1};
        return true;
    }
    [[nodiscard]] bool take_summary(step_id step, byte_reader& in) noexcept {
        (void)in.fixed<std::uint8_t>();
        tensor_id const id = detail::take_id(in);
        if (detail::take_step(in) != step) { return false; }
        auto const mask = static_cast<std::uint32_t>(in.varint(stored_terms::all));
        std::uint64_t const count = in.varint();
        byte_reader ahead = in;
        bool const finite =
            (mask & stored_terms::nonfinite) != 0 &&
            (ahead.fixed<std::uint8_t>() | ahead.fixed<std::uint8_t>() | ahead.fixed<std::uint8_t>()) == 0;
        if (finite) { (void)in.raw(3); }
        byte_reader end = in;
        detail::skip_summary(end, mask, finite);
        if (end.bad() || end.left() != 0 || !values_.append(in.raw(in.left()))) { return false; }
        return put_scalars() && put([&](byte_writer& out) {
                   out.fixed(finite ? layout::packed::finite_summary : layout::packed::summary);
                   out.varint(id);
                   out.varint(mask);
                   out.varint(count);
               });
    }
    [[nodiscard]] bool put_scalars() noexcept {
        if (item_.count == 0) { return true; }
        item const it = std::exchange(item_, {});
        return put([&](byte_writer& out) {
            out.fixed(it.what);
            out.varint(it.first);
            out.varint(it.count);
            out.fixed(it.type);
        });
    }
    template <class Write>
    [[nodiscard]] bool put(Write const& write) noexcept {
        constexpr std::size_t room = 1 + 3 * varint_limit;
        std::byte* const at = draft_.prepare(room);
        if (at == nullptr) { return false; }
        byte_writer out{at, room};
        write(out);
        draft_.grow_by(out.size());
        return true;
    }

    // The number of the template that the draft is, which may be new. Steps mostly take them in turn.
    [[nodiscard]] bool find_template(std::size_t& number) noexcept {
        for (std::size_t tries = 0; tries < templates_count_; ++tries) {
            number = (last_template_ + tries) % templates_count_;
            piece const& each = pieces_[number];
            if (each.size == draft_.size() &&
                (each.size == 0 || std::memcmp(templates_.data() + each.at, draft_.data(), each.size) == 0)) {
                last_template_ = number + 1;
                return true;
            }
        }
        number = templates_count_;
        std::byte* const at = templates_.prepare(varint_limit + draft_.size());
        if (at == nullptr || !pieces_.grow(templates_count_ + 1)) { return false; }
        byte_writer out{at, varint_limit + draft_.size()};
        out.varint(draft_.size());
        pieces_[number] = {templates_.size() + out.size(), draft_.size()};
        out.raw(draft_.view());
        templates_.grow_by(out.size());
        last_template_ = ++templates_count_;
        return true;
    }

    byte_buffer values_, templates_, numbers_, draft_, out_;
    slots<piece> pieces_;
    item item_{};
    run runs_[runs_limit]{};
    std::size_t runs_count_ = 0, templates_count_ = 0, last_template_ = 0;
    std::size_t largest_ = 0;  // bytes of values that a step took
    std::uint32_t steps_ = 0, count_ = 0;
    std::uint64_t ordinal_ = 0;
    double first_time_ = 0, last_time_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
