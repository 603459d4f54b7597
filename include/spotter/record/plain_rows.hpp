// SPDX-License-Identifier: Apache-2.0
// Record (L4): the rows of a loop that records and does not judge: a number, or values and nothing computed of them.
#pragma once

#include <spotter/hook/sink.hpp>
#include <spotter/record/entry.hpp>

#include <cstddef>

namespace spotter::inline SPOTTER_ABI {

// Writes what `encode` writes of such rows (format/encode.hpp), straight into a ring's memory: no struct of a row is
// filled in, nothing that such a row has not is asked for, and what names the step is made once a step. `into` has room
// for observe_limit bytes.
class plain_rows {
public:
    // A scalar row. Its length.
    [[nodiscard]] std::size_t number(std::byte* into, tensor_id id, step_id const& step, plain_number value) noexcept;
    // A values_head and the row of an observation whose values, `bytes` of them, are kept. The length of both.
    [[nodiscard]] std::size_t values(std::byte* into, tensor_id id, step_id const& step, tensor_ref const& view,
                                     std::uint64_t bytes, terms keep) noexcept;

    // A single value that is kept is all there is to know of it: its statistics follow.
    [[nodiscard]] static bool is_scalar(observation const& seen, terms keep) noexcept;
    // Of values that are kept.
    [[nodiscard]] static ring_tag::values_head head_for(tensor_ref const& view, std::uint64_t bytes,
                                                        terms keep) noexcept;

private:
    // What names a step is copied as so many bytes, of which `length_` count.
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
