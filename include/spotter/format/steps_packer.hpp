// SPDX-License-Identifier: Apache-2.0
// Format (L1): packs closed steps of scalars and summaries into one row: what repeats from step to step is stored once.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/steps_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

// Whether a row can be part of a packed step: a scalar of the step, or an observation with statistics only. Not a
// scalar between steps: its time is exact, but the times of packed closes are interpolated, and times must not
// decrease.
[[nodiscard]] bool is_packable(row_kind kind, byte_view body) noexcept;

// Steps with alike rows (the same tensors in the same order, of the same types and terms) share a template. A step is
// then a template number and the values. Reusable: `seal` returns the body of the row, `reset` begins the next.
class steps_packer {
public:
    // Adds a closed step: its rows as in a row frame, with `values` observations and scalars. False, and nothing
    // changed, if it does not fit. If it does not fit an empty packer, write it row by row.
    [[nodiscard]] bool add(rows::close const& closed, byte_view step_rows, std::uint32_t values) noexcept;

    [[nodiscard]] bool empty() const noexcept { return steps_ == 0; }
    [[nodiscard]] std::uint32_t steps() const noexcept { return steps_; }   // since reset
    [[nodiscard]] std::uint32_t values() const noexcept { return count_; }  // their observations and scalars
    // Most bytes of the row's body after one more step like the others.
    [[nodiscard]] std::size_t next_size() const noexcept;

    // The body of the row; valid until the next call. Empty where memory is exhausted.
    [[nodiscard]] byte_view seal() noexcept;
    void reset() noexcept;  // removes the steps, keeps the memory

private:
    // The most time from the first to the last close, because the times in between are interpolated.
    static constexpr double longest_seconds = 0.1;
    static constexpr std::size_t runs_limit = 32;
    static constexpr std::size_t run_limit = 1 + 3 * varint_limit;
    static constexpr std::size_t fixed_limit = 4 * varint_limit + 2 * sizeof(double);

    struct run {
        mode which{};
        std::uint64_t index = 0, stride = 0, steps = 0;
    };
    struct piece {  // in templates_: the items, behind their size
        std::size_t at = 0, size = 0;
    };
    struct item {  // scalars with consecutive ids, not in the draft yet
        layout::packed what{};
        dtype type = dtype::none;
        tensor_id first = 0;
        std::uint64_t count = 0;
    };

    [[nodiscard]] bool takes(rows::close const& closed) const noexcept;
    // Whether the step continues the last run.
    [[nodiscard]] bool continues(step_id step) const noexcept;
    void extend_runs(step_id step) noexcept;

    // Splits the rows of a step: what repeats goes to the draft of a template, the rest to the values.
    [[nodiscard]] bool take_rows(step_id step, byte_view rows) noexcept;
    [[nodiscard]] bool take_scalar(step_id step, byte_reader& in) noexcept;
    [[nodiscard]] bool take_summary(step_id step, byte_reader& in) noexcept;
    [[nodiscard]] bool put_scalars() noexcept;
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

    // The number of the template that equals the draft, or of a new one. Steps mostly use templates in turn.
    [[nodiscard]] bool find_template(std::size_t& number) noexcept;

    byte_buffer values_, templates_, numbers_, draft_, out_;
    slot_array<piece> pieces_;
    item item_{};
    run runs_[runs_limit]{};
    std::size_t runs_count_ = 0, templates_count_ = 0, last_template_ = 0;
    std::size_t largest_ = 0;  // most bytes of values in a step
    std::uint32_t steps_ = 0, count_ = 0;
    std::uint64_t ordinal_ = 0;
    double first_time_ = 0, last_time_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool is_packable(row_kind kind, byte_view body) noexcept {
    if (body.empty()) { return false; }
    auto const bits = static_cast<std::uint8_t>(body[0]);
    return kind == row_kind::scalar ? (bits & layout::scalar_step) != 0 : kind == row_kind::observe && bits == 0;
}

SPOTTER_BODY bool steps_packer::add(rows::close const& closed, byte_view step_rows, std::uint32_t values) noexcept {
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

SPOTTER_BODY std::size_t steps_packer::next_size() const noexcept {
    return fixed_limit + runs_count_ * run_limit + templates_.size() + numbers_.size() + varint_limit + values_.size() +
           largest_;
}

SPOTTER_BODY byte_view steps_packer::seal() noexcept {
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

SPOTTER_BODY void steps_packer::reset() noexcept {
    values_.clear();
    templates_.clear();
    numbers_.clear();
    steps_ = count_ = 0;
    runs_count_ = templates_count_ = last_template_ = largest_ = 0;
}

SPOTTER_BODY bool steps_packer::takes(rows::close const& closed) const noexcept {
    if (closed.left_out != 0) { return false; }
    if (steps_ == 0) { return true; }
    return steps_ < layout::packed_steps_limit && closed.time - first_time_ <= longest_seconds &&
           closed.ordinal == ordinal_ + steps_ && (runs_count_ < runs_limit || continues(closed.step));
}

SPOTTER_BODY bool steps_packer::continues(step_id step) const noexcept {
    run const& last = runs_[runs_count_ - 1];
    if (last.which != step.mode) { return false; }
    return last.steps == 1 ? step.index >= last.index : step.index == last.index + last.steps * last.stride;
}

SPOTTER_BODY void steps_packer::extend_runs(step_id step) noexcept {
    if (runs_count_ == 0 || !continues(step)) {
        runs_[runs_count_++] = {step.mode, step.index, 0, 1};
        return;
    }
    run& last = runs_[runs_count_ - 1];
    if (last.steps++ == 1) { last.stride = step.index - last.index; }
}

SPOTTER_BODY bool steps_packer::take_rows(step_id step, byte_view rows) noexcept {
    for (byte_reader in{rows}; in.left() > 0;) {
        auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
        byte_reader body{in.raw(in.varint())};
        bool const good = kind == row_kind::scalar ? take_scalar(step, body) : take_summary(step, body);
        if (!good || in.bad()) { return false; }
    }
    return put_scalars();
}

SPOTTER_BODY bool steps_packer::take_scalar(step_id step, byte_reader& in) noexcept {
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

SPOTTER_BODY bool steps_packer::take_summary(step_id step, byte_reader& in) noexcept {
    (void)in.fixed<std::uint8_t>();
    tensor_id const id = detail::take_id(in);
    if (detail::take_step(in) != step) { return false; }
    auto const mask = static_cast<std::uint32_t>(in.varint(stored_terms::all));
    std::uint64_t const count = in.varint();
    byte_reader ahead = in;
    bool const finite = (mask & stored_terms::nonfinite) != 0 &&
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

SPOTTER_BODY bool steps_packer::put_scalars() noexcept {
    if (item_.count == 0) { return true; }
    item const it = std::exchange(item_, {});
    return put([&](byte_writer& out) {
        out.fixed(it.what);
        out.varint(it.first);
        out.varint(it.count);
        out.fixed(it.type);
    });
}

SPOTTER_BODY bool steps_packer::find_template(std::size_t& number) noexcept {
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

}  // namespace spotter::inline SPOTTER_ABI
#endif
