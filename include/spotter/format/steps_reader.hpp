// SPDX-License-Identifier: Apache-2.0
// Format (L1): reads the rows of packed steps one after the other, as if they were not packed.
#pragma once

#include <spotter/format/decode.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace layout {
// The kind of a template's item. `finite_summary` omits three zeros: no element is NaN or infinite.
enum class packed : std::uint8_t { scalars = 1, timed_scalars = 2, summary = 3, finite_summary = 4 };

inline constexpr std::uint64_t packed_steps_limit = 65536;  // in one row
}  // namespace layout

namespace detail {

[[nodiscard]] std::size_t summary_bytes(std::uint32_t kept) noexcept;
// The writer's clock at one of `count` steps, interpolated between the first and the last close.
[[nodiscard]] double packed_time(double first, double last, std::uint64_t at, std::uint64_t count) noexcept;

// Skips the output of encode_summary after the count; `finite`: without the counts of NaN and infinities.
void skip_summary(byte_reader& in, std::uint32_t kept, bool finite) noexcept;

}  // namespace detail

// A packed row. `rest` is what differs from step to step: a scalar's value and time, or a summary after its count.
struct packed_row {
    row_kind kind{};  // observe, scalar or close
    layout::packed what{};
    tensor_id id = no_tensor;   // except for a close
    step_id step{};             // its step
    std::uint64_t ordinal = 0;  // of a close: number of closes before it
    double time = 0;            // of a close
    dtype type = dtype::none;   // of a scalar
    std::uint32_t mask = 0;     // of a summary
    std::uint64_t count = 0;    // of a summary: elements
    byte_view rest{};           // a view of the body; empty for a close
};

// Writes the row in unpacked form; `into` must have room for observe_limit bytes. Returns its length.
[[nodiscard]] std::size_t unpack(packed_row const& row, std::byte* into) noexcept;

// Reads the body of a steps row with bounds checks. Malformed input ends it early, and `bad()` is true. It has at most
// packed_steps_limit closes, each after the rows of one template. A summary with only counts has no bytes of its own.
class steps_reader {
public:
    steps_reader() noexcept = default;
    explicit steps_reader(byte_view body) noexcept;

    // Calls take(first, last) for the runs of steps in a body, without reading their rows.
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
        mode which{};                                    // of all steps
        std::uint64_t index = 0, stride = 0, steps = 0;  // of the first step; distance; number of steps
    };
    [[nodiscard]] static run take_run(byte_reader& in) noexcept;  // fails the reader if malformed

    // False at the end, or if the row is malformed.
    [[nodiscard]] bool next() noexcept;
    // If all steps are alike, skips complete steps of at most `rows` rows, at the cost of one step. Returns the number
    // of rows; 0 within a step.
    [[nodiscard]] std::uint64_t skip_alike(std::uint64_t rows) noexcept;
    // Valid after `next` returned true, until the next call.
    [[nodiscard]] packed_row const& row() const noexcept { return row_; }
    // It ended early; the rows before that are valid.
    [[nodiscard]] bool bad() const noexcept { return values_.bad() || items_.bad() || runs_.bad(); }

private:
    void open_step() noexcept;
    // Templates are mostly used in turn, so the search continues from the last one.
    void open_template(std::uint64_t number) noexcept;
    void open_item() noexcept;
    void take_value() noexcept;
    void close_step() noexcept;
    // Of the current row.
    [[nodiscard]] bool is_of_fixed_size() const noexcept;

    static constexpr std::size_t unpacked_head = 5 * varint_limit + 8;  // of an observation, before `rest`

    byte_reader values_{byte_view{}};
    byte_reader runs_{byte_view{}};
    byte_reader table_{byte_view{}};
    byte_reader numbers_{byte_view{}};     // the template number of each step, if there are several
    byte_reader next_items_{byte_view{}};  // from template next_template_ on
    byte_reader items_{byte_view{}};       // the rest of this step's
    std::uint64_t steps_ = 0, step_ = 0, runs_left_ = 0, templates_ = 0, next_template_ = 0;
    std::uint64_t ordinal_ = 0;
    std::uint64_t in_item_ = 0, item_rows_ = 0;  // rows of the item: left, and all
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
