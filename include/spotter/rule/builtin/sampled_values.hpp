// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): a small sample of a tensor's elements.
#pragma once

#include <spotter/core/tensor_ref.hpp>
#include <spotter/stat/any_values.hpp>

namespace spotter::inline SPOTTER_ABI {

// Takes one element from each of `most` equal parts of the tensor. Its offset changes from part to part, so that it
// matches no period of rows or channels. Tensors of equal size give the same positions. A tensor with up to `most`
// elements is taken whole, and the rest is zero. A complex element counts as two real ones.
struct sampled_values {
    static constexpr std::size_t most = 64;  // elements

    double all[most]{};  // in storage order

    // Index in a tensor of `count` elements of the i-th that is taken, where `parts` are.
    [[nodiscard]] static constexpr std::size_t place(std::size_t i, std::size_t count,
                                                     std::size_t parts = most) noexcept {
        std::size_t const part = count / parts;
        return count <= parts ? i : i * part + (i * 40503U >> 3U) % part;
    }
    // Elements that are not finite become 0.
    [[nodiscard]] static constexpr sampled_values of(tensor_ref const& values) noexcept {
        sampled_values made;
        visit_seen(detail::parts_of(values), [&](auto const& elements) {
            std::size_t const count = elements.size();
            for (std::size_t i = 0; i < count && i < most; ++i) {
                made.all[i] = detail::see(elements[place(i, count)]).value;
            }
        });
        return made;
    }
};

// Element by element.
[[nodiscard]] SPOTTER_STRICT constexpr sampled_values operator-(sampled_values const& a,
                                                                sampled_values const& b) noexcept {
    SPOTTER_STRICT_BODY
    sampled_values made;
    for (std::size_t i = 0; i < sampled_values::most; ++i) { made.all[i] = a.all[i] - b.all[i]; }
    return made;
}
// Summed in a fixed order.
[[nodiscard]] SPOTTER_STRICT constexpr double dot(sampled_values const& a, sampled_values const& b) noexcept {
    SPOTTER_STRICT_BODY
    double total = 0;
    for (std::size_t i = 0; i < sampled_values::most; ++i) { total += a.all[i] * b.all[i]; }
    return total;
}

}  // namespace spotter::inline SPOTTER_ABI
