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

[[nodiscard]] std::size_t summary_bytes(std::uint32_t kept) noexcept;
// The writer's clock at one of `count` steps, between the first and the last close in equal parts.
[[nodiscard]] double packed_time(double first, double last, std::uint64_t at, std::uint64_t count) noexcept;

// Steps over what encode_summary writes behind the count; `finite`: without the counts of NaN and infinities.
void skip_summary(byte_reader& in, std::uint32_t kept, bool finite) noexcept;

}  // namespace detail

// One row out of a steps row. `rest` is what differs from step to step: a scalar's value and time, a summary behind its
// count.
struct packed_row {
    row_kind kind{};  // observe, scalar or close
    layout::packed what{};
    tensor_id id = no_tensor;   // of all but a close
    step_id step{};             // the step that it is of
    std::uint64_t ordinal = 0;  // of a close: closes of the worker before it
    double time = 0;            // of a close
    dtype type = dtype::none;   // of a scalar
    std::uint32_t mask = 0;     // of a summary, as is the next
    std::uint64_t count = 0;    // elements
    byte_view rest{};           // in the body; empty of a close
};

// The same row as it would stand alone; `into` must have room for observe_limit bytes. Its length.
[[nodiscard]] std::size_t unpack(packed_row const& row, std::byte* into) noexcept;

// Reads the body of a steps row, never outside it. Garbage ends it early, and `bad()` says so. At most
// packed_steps_limit closes come out of it, each behind the rows of one of its templates; a summary of which only
// counts were kept has no byte of its own.
class steps_reader {
public:
    steps_reader() noexcept = default;
    explicit steps_reader(byte_view body) noexcept;

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
        mode which{};                                    // of all its steps
        std::uint64_t index = 0, stride = 0, steps = 0;  // of the first, the distance between two, how many
    };
    [[nodiscard]] static run
    take_run(byte_reader& in) noexcept;  // at which the reader is; fails it where it is malformed

    // False at the end, and where the row is malformed.
    [[nodiscard]] bool next() noexcept;
    // Steps over whole steps, `rows` of their rows at most, where all steps are alike: at the cost of one. How many
    // rows; none within a step.
    [[nodiscard]] std::uint64_t skip_alike(std::uint64_t rows) noexcept;
    // After a `next` that was true; until the next one.
    [[nodiscard]] packed_row const& row() const noexcept { return row_; }
    // It ended early; what came before is sound.
    [[nodiscard]] bool bad() const noexcept { return values_.bad() || items_.bad() || runs_.bad(); }

private:
    void open_step() noexcept;
    // Templates are most often taken in turn, so the search goes on from the last one.
    void open_template(std::uint64_t number) noexcept;
    void open_item() noexcept;
    void take_value() noexcept;
    void close_step() noexcept;
    // Of the row that was met.
    [[nodiscard]] bool is_of_fixed_size() const noexcept;

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

#if SPOTTER_BODIES
#include <spotter/format/steps_reader.ipp>
#endif
