// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): medians and ranks of recent values.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/rule/series.hpp>

namespace spotter::inline SPOTTER_ABI {

// Allocates room for the last `most` values, and for sorting them.
[[nodiscard]] constexpr bool keep_sortable(recent_values& values, std::uint64_t most,
                                           slot_array<std::uint64_t>& scratch) noexcept {
    constexpr std::uint64_t limit = 1U << 20;  // the limit of recent_values, which keeps at least two
    return values.keep(most) && scratch.grow(as_size(most < 2 ? 2 : most > limit ? limit : most));
}

// The median of map(value). For an even number of values the mean of the two in the middle; 0 without values. Does not
// allocate where `scratch` has room for as many values.
template <class Map>
[[nodiscard]] SPOTTER_STRICT constexpr double median_of(recent_values const& values, slot_array<std::uint64_t>& scratch,
                                                        Map map) noexcept {
    SPOTTER_STRICT_BODY
    std::size_t const count = values.size();
    if (count == 0 || !scratch.grow(count)) { return 0; }
    std::span<std::uint64_t> const keys{scratch.data(), count};
    for (std::size_t i = 0; i < count; ++i) { keys[i] = detail::key_of(map(values[i])); }
    std::array<std::size_t, 2> const ranks{(count - 1) / 2, count / 2};
    detail::select_ranks(keys, 0, ranks);
    double lower = 0.5 * detail::value_of_key(keys[ranks[0]]);
    double upper = 0.5 * detail::value_of_key(keys[ranks[1]]);
    force_rounding(lower), force_rounding(upper);
    return lower + upper;
}

// The last values of a series, also kept sorted. Adding a value costs as much as it moves others; the median costs
// nothing.
class sorted_values {
public:
    // False where memory is exhausted.
    [[nodiscard]] constexpr bool keep(std::uint64_t most) noexcept { return keep_sortable(values_, most, keys_); }
    constexpr void clear() noexcept { values_.clear(); }
    // Adds a value. The oldest is dropped where there is no room. Must not be NaN.
    constexpr void add(double value) noexcept {
        std::size_t const count = values_.size();
        std::uint64_t const key = detail::key_of(value);
        std::size_t place = place_of(key, count);  // of the first key that is not less
        if (!values_.full()) {
            for (std::size_t i = count; i > place; --i) { keys_[i] = keys_[i - 1]; }
            keys_[place] = key;
        } else {
            std::size_t gone = place_of(detail::key_of(values_[0]), count);
            for (; gone + 1 < place; ++gone) { keys_[gone] = keys_[gone + 1]; }
            for (; gone > place; --gone) { keys_[gone] = keys_[gone - 1]; }
            keys_[gone] = key;
        }
        values_.add(value);
    }
    // In the order of arrival.
    [[nodiscard]] constexpr recent_values const& values() const noexcept { return values_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return values_.size(); }
    [[nodiscard]] constexpr bool full() const noexcept { return values_.full(); }  // as many as `keep` reserved
    // The value of a rank, from 0.
    [[nodiscard]] constexpr double ranked(std::size_t rank) const noexcept { return detail::value_of_key(keys_[rank]); }
    // The result of median_of; 0 without values.
    [[nodiscard]] SPOTTER_STRICT constexpr double median() const noexcept {
        SPOTTER_STRICT_BODY
        if (size() == 0) { return 0; }
        double lower = 0.5 * ranked((size() - 1) / 2);
        double upper = 0.5 * ranked(size() / 2);
        force_rounding(lower), force_rounding(upper);
        return lower + upper;
    }

private:
    [[nodiscard]] constexpr std::size_t place_of(std::uint64_t key, std::size_t count) const noexcept {
        std::size_t first = 0;
        while (count > 0) {
            std::size_t const half = count / 2;
            bool const less = keys_[first + half] < key;
            first = less ? first + half + 1 : first;
            count = less ? count - half - 1 : half;
        }
        return first;
    }

    recent_values values_;
    slot_array<std::uint64_t> keys_;
};

// The nearest rank: the least value that `share` of the values do not exceed; 0 without values. Does not allocate where
// `scratch` has room for as many values.
[[nodiscard]] SPOTTER_STRICT constexpr double rank_of(recent_values const& values, slot_array<std::uint64_t>& scratch,
                                                      double share) noexcept {
    SPOTTER_STRICT_BODY
    std::size_t const count = values.size();
    if (count == 0 || !scratch.grow(count)) { return 0; }
    std::span<std::uint64_t> const keys{scratch.data(), count};
    for (std::size_t i = 0; i < count; ++i) { keys[i] = detail::key_of(values[i]); }
    double place = share * static_cast<double>(count);
    force_rounding(place);
    auto rank = static_cast<std::size_t>(place);
    if (rank > 0 && static_cast<double>(rank) >= place) { --rank; }  // ceil(place) - 1
    std::array<std::size_t, 1> const ranks{rank < count ? rank : count - 1};
    detail::select_ranks(keys, 0, ranks);
    return detail::value_of_key(keys[ranks[0]]);
}

}  // namespace spotter::inline SPOTTER_ABI
