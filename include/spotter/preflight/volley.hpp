// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: shots along several directions, and what a factor or a decay in the gradients makes of them.
#pragma once

#include <spotter/preflight/shots.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The shots along several directions, of a group.
struct volley {
    std::vector<shot> shots{};
    std::uint64_t first_direction = 0;
    double times = 1;

    [[nodiscard]] double_list rests() const {
        double_list made;
        for (shot const& each : shots) { made.push_back(each.rest()); }
        return made;
    }
    [[nodiscard]] bool finite() const noexcept {
        return std::all_of(shots.begin(), shots.end(),
                           [](shot const& each) { return is_finite(each.moved) && is_finite(each.bend); });
    }
    // The deviation of what was not foreseen. No median: the error of one element shows in those shots alone that move
    // it far.
    [[nodiscard]] double spread() const { return rms_of(rests()); }
    // The standard deviation of the bends: a kink on one side, and the rounding of a loss, change what was not foreseen
    // and the bend by the same.
    [[nodiscard]] double roughness() const;
    // What the tensor at `place` of the group foresees, over all signs.
    [[nodiscard]] double unit(std::size_t place) const noexcept {
        double sum = 0;
        for (shot const& each : shots) { sum += each.unit[place] * each.unit[place]; }
        return shots.empty() ? 0 : std::sqrt(sum / static_cast<double>(shots.size()));
    }
};

// The loss moved by kappa times what was foreseen, as closely as can be had: `unit` is what was foreseen, `moved` what
// came of it, and `left` what the factor does not explain.
struct multiple {
    double kappa = 0, unit = 0, left = 0, moved = 0;
};
[[nodiscard]] multiple multiple_of(volley const& fired);

// A multiple of the weights, or of their signs, in the gradients of all tensors or of matrices alone.
struct decay_form {
    double lambda = 0;
    bool by_signs = false, of_matrices = false;
};
// The one that explains most of what was not foreseen: rest = -lambda * (what the weights foresee), and two thirds of
// it at least, which chance does in one of thousands. Of the form that is known, where one is; 0: none.
[[nodiscard]] decay_form find_decay(std::vector<parameter> const& tensors, tensor_group const& group,
                                    volley const& fired, decay_form const& known);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/volley.ipp>
#endif
