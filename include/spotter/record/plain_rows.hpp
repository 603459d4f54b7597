// SPDX-License-Identifier: Apache-2.0
// Record (L4): rows for loops that record without judging: a number, or values without computed terms.
#pragma once

#include <spotter/hook/sink.hpp>
#include <spotter/record/entry.hpp>

#include <cstddef>

namespace spotter::inline SPOTTER_ABI {

// Writes the same bytes as `encode` (format/encode.hpp), directly into the ring's memory. It fills no row struct, skips
// fields that such rows lack, and encodes the step's name once for each step. `into` has room for observe_limit bytes.
class plain_rows {
public:
    // Writes a scalar row; returns its length.
    [[nodiscard]] std::size_t number(std::byte* into, tensor_id id, step_id const& step, plain_number value) noexcept;
    // Writes a values_head and the row of an observation that keeps its values (`bytes` long). Returns the length of
    // both.
    [[nodiscard]] std::size_t values(std::byte* into, tensor_id id, step_id const& step, tensor_ref const& view,
                                     std::uint64_t bytes, stats_mask keep) noexcept;

    // A scalar kept with its value: its statistics follow from it.
    [[nodiscard]] static bool is_scalar(observation const& seen, stats_mask keep) noexcept;
    // For an observation that keeps its values.
    [[nodiscard]] static ring_tag::values_head head_for(tensor_ref const& view, std::uint64_t bytes,
                                                        stats_mask keep) noexcept;

private:
    // The step's name is copied with a fixed size; only its first `length_` bytes count.
    static constexpr std::size_t step_limit = 16;

    [[nodiscard]] std::byte* put_step(std::byte* at, step_id const& step) noexcept;
    void meet(step_id const& step) noexcept;

    step_id step_{};
    std::size_t length_ = 0;
    std::byte text_[step_limit]{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/plain_rows.ipp>
#endif
