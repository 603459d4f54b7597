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
#include <spotter/format/steps_packer.ipp>
#endif
