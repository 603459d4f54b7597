// SPDX-License-Identifier: Apache-2.0
// Format (L1): closed steps of scalars and summaries into one row: what repeats from step to step is said once.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/steps_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

// Whether a row can be part of a packed step: a number of this step, or an observation of which statistics alone are
// kept. Not a loose scalar: its time is exact, and times never decrease, but those of packed closes are interpolated.
[[nodiscard]] bool is_packable(row_kind kind, byte_view body) noexcept;

// Steps whose rows are alike (the same tensors in the same order, of the same types and terms) share a template; a step
// is then the number of its template and the values. Reused: `seal` gives the body of the row, `reset` begins the next.
class steps_packer {
public:
    // A step that was closed, with the rows before its close as they stand in a row frame, `values` of them. False
    // where it does not fit, and nothing has changed. What does not fit an empty packer has to be written row by row.
    [[nodiscard]] bool add(rows::close const& closed, byte_view step_rows, std::uint32_t values) noexcept;

    [[nodiscard]] bool empty() const noexcept { return steps_ == 0; }
    [[nodiscard]] std::uint32_t steps() const noexcept { return steps_; }   // packed since reset
    [[nodiscard]] std::uint32_t values() const noexcept { return count_; }  // observations and scalars of those
    // Bytes that the row's body takes at most, one more step like the others included.
    [[nodiscard]] std::size_t next_size() const noexcept;

    // The body of the row; valid until the next call. Empty where memory is exhausted.
    [[nodiscard]] byte_view seal() noexcept;
    void reset() noexcept;  // forgets the steps, keeps the memory

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

    [[nodiscard]] bool takes(rows::close const& closed) const noexcept;
    // The last run goes on with this step.
    [[nodiscard]] bool continues(step_id step) const noexcept;
    void extend_runs(step_id step) noexcept;

    // The rows of a step: what repeats into the draft of a template, the rest to the values.
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

    // The number of the template that the draft is, which may be new. Steps mostly take them in turn.
    [[nodiscard]] bool find_template(std::size_t& number) noexcept;

    byte_buffer values_, templates_, numbers_, draft_, out_;
    slot_array<piece> pieces_;
    item item_{};
    run runs_[runs_limit]{};
    std::size_t runs_count_ = 0, templates_count_ = 0, last_template_ = 0;
    std::size_t largest_ = 0;  // bytes of values that a step took
    std::uint32_t steps_ = 0, count_ = 0;
    std::uint64_t ordinal_ = 0;
    double first_time_ = 0, last_time_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/steps_packer.ipp>
#endif
