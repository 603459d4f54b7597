// SPDX-License-Identifier: Apache-2.0
// Core (L0): the reason why a view was refused, as health() reports it.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/tensor_ref.hpp>

namespace spotter::inline SPOTTER_ABI {

// The report of a refusal.
struct refusal_words {
    errc code = errc::none;       // the kind of error
    std::string_view sentence{};  // follows the tensor's name, and says what to do
};
// The report of each refusal.
[[nodiscard]] constexpr refusal_words words_of(refusal why) noexcept {
    switch (why) {
        case refusal::rank_too_deep:
            return {errc::rank_too_deep, "has more than 8 axes: view it with fewer"};
        case refusal::other_device:
            return {errc::not_contiguous,
                    "lies in the memory of another device: hand the hook that device, or copy it to the host first"};
        case refusal::unknown_element:
            return {errc::wrong_type, "has elements without a dtype (quantised?): convert it first"};
        case refusal::ragged:
            return {errc::not_contiguous, "has rows of different length"};
        case refusal::negative_size:
            return {errc::no_shape, "has a negative size: give the number of elements of each axis"};
        case refusal::size_mismatch:
            return {errc::no_shape, "has another number of elements than its sizes say"};
        case refusal::too_large:
            return {errc::no_shape, "has sizes that multiply to more elements than there can be"};
        case refusal::axes_mismatch:
            return {errc::no_shape,
                    "has sizes and strides (or a whole) of different numbers of axes: give one an axis"};
        case refusal::permuted:
            return {errc::not_contiguous,
                    "is a permuted view, its axes are not in the order of its memory: observe packed(pointer, {sizes}, "
                    "{byte strides}), which copies it where it is due"};
        case refusal::null:
            return {errc::null_pointer,
                    "is a null pointer: nothing was allocated yet? Observe it where it has values, or hold it in a "
                    "tensor_table, which leaves out what is null"};
        default:
            return {errc::not_contiguous,
                    "is not contiguous: observe packed(pointer, {sizes}, {byte strides}), or copy it first"};
    }
}

}  // namespace spotter::inline SPOTTER_ABI
