// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): memory that grows and is not released, for the rules on GPU memory and process memory.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/series.hpp>

namespace spotter::inline SPOTTER_ABI {

// How fast one series of samples grows. A window is cut into blocks, and each block counts with its least sample: the
// memory that stays after everything released within the block. The slope is the median of the slopes between any two
// blocks (Theil 1950; Sen 1968, JASA 63, 1379-1389), which few outliers do not move. `monotone` is the share of pairs
// whose later block has more. A sawtooth that ends higher than in the window before does not count as growth, and
// neither does a single jump.
class memory_growth {
public:
    struct limits {                               // what counts as growth
        std::uint64_t window = 600, blocks = 20;  // samples; parts of a window
        double increase = 0.02, monotone = 0.8;   // of the capacity over a window; share of pairs
        std::uint64_t skip = 1;                   // windows
    };
    struct answer : judged_value {  // at the end of a window
        double left = 0;            // samples until the capacity is reached
    };
    static constexpr std::size_t most_blocks = 64;  // larger numbers are clamped

    // False where memory is exhausted. `keys` is scratch memory that several series may share.
    [[nodiscard]] constexpr bool keep(limits const& of, slot_array<std::uint64_t>& keys) noexcept {
        std::size_t const blocks = blocks_of(of);
        return least_.grow(blocks) && keys.grow(blocks * (blocks - 1) / 2);
    }
    // Adds a sample. Decides only at the end of a window.
    [[nodiscard]] constexpr answer add(double value, limits const& of, slot_array<std::uint64_t>& keys) noexcept {
        std::size_t const blocks = blocks_of(of);
        std::uint64_t const window = of.window < blocks ? blocks : of.window;
        std::size_t const block = as_size(in_window_ * blocks / window);
        double& least = least_[block];
        if (block != block_ || in_window_ == 0 || value < least) { least = value; }
        block_ = block;
        if (++in_window_ < window) { return {}; }
        in_window_ = 0;
        if (++windows_ <= of.skip) { return {}; }
        return judge(blocks, static_cast<double>(window), of, keys);
    }

private:
    [[nodiscard]] static constexpr std::size_t blocks_of(limits const& of) noexcept {
        return of.blocks < 2 ? 2 : of.blocks > most_blocks ? most_blocks : static_cast<std::size_t>(of.blocks);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr answer judge(std::size_t blocks, double window, limits const& of,
                                                        slot_array<std::uint64_t>& keys) noexcept {
        SPOTTER_STRICT_BODY
        std::size_t pairs = 0, rising = 0;
        for (std::size_t i = 0; i + 1 < blocks; ++i) {
            for (std::size_t j = i + 1; j < blocks; ++j) {
                double const apart = least_[j] - least_[i];
                rising += apart > 0 ? 1U : 0U;
                keys[pairs++] = detail::key_of(apart / static_cast<double>(j - i));
            }
        }
        std::array<std::size_t, 2> const ranks{(pairs - 1) / 2, pairs / 2};
        detail::select_ranks(std::span{keys.data(), pairs}, 0, ranks);
        double slope = 0.5 * (detail::value_of_key(keys[ranks[0]]) + detail::value_of_key(keys[ranks[1]]));
        force_rounding(slope);
        double growth = slope * static_cast<double>(blocks - 1);
        force_rounding(growth);
        double const monotone = static_cast<double>(rising) / static_cast<double>(pairs);
        bool const grows = growth >= of.increase && monotone >= of.monotone;
        answer made{judged_value{growth, grows}, 0};
        double const free = 1 - least_[blocks - 1];
        if (slope > 0 && free > 0) { made.left = free / slope * (window / static_cast<double>(blocks)); }
        return made;
    }

    slot_array<double> least_;  // least sample, by block
    std::uint64_t in_window_ = 0, windows_ = 0;
    std::size_t block_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
