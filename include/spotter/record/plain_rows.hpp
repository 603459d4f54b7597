// SPDX-License-Identifier: Apache-2.0
// Record (L4): rows for loops that record without judging: a number, or values without computed terms.
#pragma once

#include <spotter/format/encode.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/hook/sink.hpp>
#include <spotter/record/entry.hpp>

#include <cstddef>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// quick_writer::varint, for values that mostly fit into one byte.
[[nodiscard]] SPOTTER_INLINE std::byte* put_varint(std::byte* at, std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) { *at++ = static_cast<std::byte>(value | 0x80); }
    *at++ = static_cast<std::byte>(value);
    return at;
}

}  // namespace detail

// Writes the same bytes as `encode` (format/encode.hpp), directly into the ring's memory. It fills no row struct, skips
// fields that such rows lack, and encodes the step's name once for each step. `into` has room for observe_limit bytes.
class plain_rows {
public:
    // Writes a scalar row; returns its length.
    [[nodiscard]] std::size_t number(std::byte* into, tensor_id id, step_id const& step, plain_number value) noexcept {
        store(into, layout::scalar_step);
        std::byte* const at = put_step(detail::put_varint(into + 1, id), step);
        store(at, value.type);
        store(at + 1, value.size);  // a varint of one byte
        store(at + 2, value.bits);
        return static_cast<std::size_t>(at - into) + 2 + value.size;
    }

    // Writes a values_head and the row of an observation that keeps its values (`bytes` long). Returns the length of
    // both.
    [[nodiscard]] std::size_t values(std::byte* into, tensor_id id, step_id const& step, tensor_ref const& view,
                                     std::uint64_t bytes, stats_mask keep) noexcept {
        std::byte* at = into + sizeof(ring_tag::values_head);
        store(at, layout::observe_values);
        at = put_step(detail::put_varint(at + 1, id), step);
        store(at, std::uint8_t{0});  // no statistics
        at = detail::put_varint(at + 1, view.count);
        std::byte* const described = at;
        auto const sizes = view.shape.view();
        store(at, view.type);
        store(at + 1, view.layout);
        store(at + 2, static_cast<std::uint8_t>(sizes.size()));
        at += 3;
        for (std::uint64_t const each : sizes) { at = detail::put_varint(at, each); }
        unsigned const chain = bytes >= layout::plain_bytes ? detail::chain_of(keep) : 0;
        store(into,
              ring_tag::values_head{bytes, payload_packer::form_for(view.type, bytes).bits,
                                    static_cast<std::uint16_t>(chain), static_cast<std::uint16_t>(at - described)});
        return static_cast<std::size_t>(at - into);
    }

    // A scalar kept with its value: its statistics follow from it.
    [[nodiscard]] static bool is_scalar(observation const& seen, stats_mask keep) noexcept {
        return seen.view.shape.rank == 0 && has(keep, stats_mask::payload) &&
               !any(without(keep, pass_terms | stats_mask::payload | stats_mask::shape | detail::chain_bits)) &&
               seen.tensor.shape.rank == 0 && seen.view.layout == order::row_major && !seen.view.absent() &&
               seen.view.refused == refusal::none;
    }

    // For an observation that keeps its values.
    [[nodiscard]] static ring_tag::values_head head_for(tensor_ref const& view, std::uint64_t bytes,
                                                        stats_mask keep) noexcept {
        std::size_t described = 3;
        for (std::uint64_t const each : view.shape.view()) { described += varint_bytes(each); }
        unsigned const chain = bytes >= layout::plain_bytes ? detail::chain_of(keep) : 0;
        return {bytes, payload_packer::form_for(view.type, bytes).bits, static_cast<std::uint16_t>(chain),
                static_cast<std::uint16_t>(described)};
    }

private:
    // The step's name is copied with a fixed size; only its first `length_` bytes count.
    static constexpr std::size_t step_limit = 16;

    [[nodiscard]] std::byte* put_step(std::byte* at, step_id const& step) noexcept {
        if (step.index != step_.index || step.mode != step_.mode || length_ == 0) { meet(step); }
        std::memcpy(at, text_, step_limit);
        return at + length_;
    }

    SPOTTER_NOINLINE void meet(step_id const& step) noexcept {
        static_assert(step_limit > varint_limit);
        quick_writer out{text_};
        detail::put_step(out, step);
        length_ = out.size();
        step_ = step;
    }

    step_id step_{};
    std::size_t length_ = 0;
    std::byte text_[step_limit]{};
};

}  // namespace spotter::inline SPOTTER_ABI
