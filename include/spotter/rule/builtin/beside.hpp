// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the streams of a side-by-side replay, for rules that compare the same tensor among them.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/stat/summary.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The silence of such a rule where there is one stream only.
inline constexpr std::string_view other_run_missing =
    "other run missing: this rule compares runs or workers, by replay_side_by_side";

// The streams seen so far, by the numbers that their observations carry. Each gets an index from 0, in the order of
// arrival.
class met_streams {
public:
    static constexpr std::size_t none = ~std::size_t{0};  // no index

    // Returns `none` where memory is exhausted.
    constexpr std::size_t place_of(std::uint32_t number) noexcept {
        if (last_ < count_ && numbers_[last_] == number) { return last_; }
        for (last_ = 0; last_ < count_; ++last_) {
            if (numbers_[last_] == number) { return last_; }
        }
        if (!numbers_.grow(count_ + 1)) { return none; }
        numbers_[count_] = number;
        return count_++;
    }
    [[nodiscard]] constexpr std::size_t count() const noexcept { return count_; }  // streams so far
    [[nodiscard]] constexpr std::uint32_t operator[](std::size_t place) const noexcept { return numbers_[place]; }

private:
    slot_array<std::uint32_t> numbers_;
    std::size_t count_ = 0, last_ = 0;
};

// The bits of a tensor as one number: its hash, combined with type and shape.
[[nodiscard]] constexpr std::uint64_t digest_of(observation const& it) noexcept {
    extents const& shape = it.view.shape;
    std::uint64_t digest = it.stats.hash;
    auto const mix = [&](std::uint64_t each) { digest = (digest ^ (each + 0x9E3779B97F4A7C15ULL)) * 0x100000001B3ULL; };
    mix(static_cast<std::uint64_t>(it.tensor.type));
    mix(shape.rank);
    for (std::uint64_t const each : shape.view()) { mix(each); }
    return digest;
}

}  // namespace spotter::inline SPOTTER_ABI
