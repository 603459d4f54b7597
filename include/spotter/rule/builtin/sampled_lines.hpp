// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): an eighth of a large tensor's elements, as a smaller tensor.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

// Takes 16 adjacent elements (a cache line of floats) of each 128. Their offset changes from one 128 to the next by the
// golden ratio, so that it matches no period of rows or channels. Tensors of equal size give the same positions, so
// their samples can be compared. A tensor with up to `whole` elements is its own sample.
class sampled_lines {
public:
    static constexpr std::uint64_t whole = 16384;       // up to this many elements are all taken
    static constexpr std::size_t line = 16, lines = 8;  // elements of a line; one line of this many is taken

    [[nodiscard]] static constexpr std::uint64_t size_of_sample(std::uint64_t count) noexcept {
        return count > whole ? count / (line * lines) * line : count;
    }
    // Index in the tensor at which line i of a sample begins.
    [[nodiscard]] static constexpr std::size_t place(std::size_t i) noexcept {
        return (i * lines + static_cast<std::size_t>(i * 0x9E3779B97F4A7C15ULL >> 61U)) * line;
    }
    // Valid until the next call; absent where memory is exhausted. Elements are in storage order, in one dimension.
    [[nodiscard]] constexpr tensor_ref take(tensor_ref const& values) noexcept {
        if (values.count <= whole) { return values; }
        auto const size = as_size(size_of_sample(values.count));
        tensor_ref made{};
        std::size_t const bytes = size_of(values.type);
        if (values.refused != refusal::none || bytes == 0 || !kept_.grow(size * bytes)) { return made; }
        auto const* const all = static_cast<unsigned char const*>(values.values.raw);
        for (std::size_t i = 0; i < size / line; ++i) {
            std::memcpy(kept_.data() + i * line * bytes, all + place(i) * bytes, line * bytes);
        }
        made = values;
        made.values.raw = kept_.data();
        made.count = size;
        made.shape = {size};
        return made;
    }

private:
    slot_array<unsigned char> kept_;
};

}  // namespace spotter::inline SPOTTER_ABI
