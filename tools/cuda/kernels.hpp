// SPDX-License-Identifier: Apache-2.0
// The one pass of statistics as GPU kernels, in the order of stat/lanes.hpp, so that they give the same bits as the
// processor's pass. Written for a group of 16 lanes. On a GPU these are 16 threads, one for each lane; on the processor
// (tests/ext/cuda, which replaces the driver) one thread processes all lanes.
#pragma once

#include <spotter/ext/cuda/task.hpp>
#include <spotter/stat/lanes.hpp>

namespace spotter::inline SPOTTER_ABI::detail::cuda_pass {

// One element of any non-complex type, as defined by the statistics.
template <class Value>
[[nodiscard]] constexpr seen_element see_as(std::uint64_t values, std::uint64_t at) noexcept {
    return detail::see(reinterpret_cast<Value const*>(values)[at]);
}
[[nodiscard]] inline seen_element see_at(std::uint32_t type, std::uint64_t values, std::uint64_t at) noexcept {
    switch (static_cast<dtype>(type)) {
        case dtype::f32:
            return see_as<float>(values, at);
        case dtype::f64:
            return see_as<double>(values, at);
        case dtype::f16:
            return see_as<f16>(values, at);
        case dtype::bf16:
            return see_as<bf16>(values, at);
        case dtype::f8_e4m3:
            return see_as<f8_e4m3>(values, at);
        case dtype::f8_e5m2:
            return see_as<f8_e5m2>(values, at);
        case dtype::i8:
            return see_as<std::int8_t>(values, at);
        case dtype::i16:
            return see_as<std::int16_t>(values, at);
        case dtype::i32:
            return see_as<std::int32_t>(values, at);
        case dtype::i64:
            return see_as<std::int64_t>(values, at);
        case dtype::u16:
            return see_as<std::uint16_t>(values, at);
        case dtype::u32:
            return see_as<std::uint32_t>(values, at);
        case dtype::u64:
            return see_as<std::uint64_t>(values, at);
        default:  // u8, and bool, which is 0 or 1
            return see_as<std::uint8_t>(values, at);
    }
}

// The sums of a lane in a block.
struct lane_state {
    double sum = 0, sum_abs = 0, sum_squares = 0, gaps = 0;
    double minimum = 0, maximum = 0, abs_minimum = 0, abs_maximum = 0;  // valid if `finite` is not 0
    std::uint32_t finite = 0, zeros = 0, nan = 0, pos_inf = 0, neg_inf = 0;
    std::uint32_t first_bad = block_size;

    constexpr void add(seen_element const& x, std::uint32_t at) noexcept {
        if (x.kind >= number_class::pos_inf) {
            first_bad = at < first_bad ? at : first_bad;
            nan += x.kind == number_class::nan ? 1U : 0U;
            pos_inf += x.kind == number_class::pos_inf ? 1U : 0U;
            neg_inf += x.kind == number_class::neg_inf ? 1U : 0U;
            return;
        }
        zeros += x.kind == number_class::zero ? 1U : 0U;
        sum += x.value;
        sum_abs += x.size;
        sum_squares += x.square;
        minimum = finite == 0 || x.value < minimum ? x.value : minimum;
        maximum = finite == 0 || x.value > maximum ? x.value : maximum;
        abs_minimum = finite == 0 || x.size < abs_minimum ? x.size : abs_minimum;
        abs_maximum = finite == 0 || x.size > abs_maximum ? x.size : abs_maximum;
        ++finite;
    }
};

// Processes a block of a tensor with a group. `group.each(use(lane))` runs for its lanes, `group.own<State>` is the
// state of each lane, `group.fold(values)` adds all 16 pairwise, and so on; every lane gets the result.
template <class Group>
SPOTTER_INLINE constexpr void take_block(Group const& group, task const& from, std::uint64_t block,
                                         partial* partials) noexcept {
    std::uint64_t const first = (block - from.first_block) * block_size;
    std::uint64_t const left = from.count - first;
    auto const size = static_cast<std::uint32_t>(left < block_size ? left : block_size);
    partial& into = partials[block];
    typename Group::template own<lane_state> state;
    group.each([&](unsigned lane) {
        for (std::uint32_t at = lane; at < size; at += lanes) {
            state[lane].add(see_at(from.type, from.values, first + at), at);
        }
        into.sum[lane] = state[lane].sum;
        into.sum_abs[lane] = state[lane].sum_abs;
        into.sum_squares[lane] = state[lane].sum_squares;
    });
    std::uint32_t const finite = group.total(state, [](lane_state const& it) { return it.finite; });
    double mean = 0, about_mean = 0;
    if (finite > 0) {
        mean = group.fold(state, [](lane_state const& it) { return it.sum; }) / static_cast<double>(finite);
        group.each([&](unsigned lane) {
            for (std::uint32_t at = lane; at < size; at += lanes) {
                seen_element const x = see_at(from.type, from.values, first + at);
                if (x.kind >= number_class::pos_inf) { continue; }
                double const gap = x.value - mean;
                double square = gap * gap;
                force_rounding(square);
                state[lane].gaps += square;
            }
        });
        about_mean = group.fold(state, [](lane_state const& it) { return it.gaps; });
    }
    partial found{};
    group.meet(state, found);
    group.once([&] {
        into.finite = finite, into.mean = mean, into.about_mean = about_mean;
        into.zeros = found.zeros, into.nan = found.nan, into.pos_inf = found.pos_inf, into.neg_inf = found.neg_inf;
        into.first_bad = found.first_bad;
        into.minimum = found.minimum, into.maximum = found.maximum;
        into.abs_minimum = found.abs_minimum, into.abs_maximum = found.abs_maximum;
    });
}

// Merges the counts and extremes of two lanes.
constexpr void join(lane_state& into, lane_state const& other) noexcept {
    if (other.finite > 0) {
        bool const none = into.finite == 0;
        into.minimum = none || other.minimum < into.minimum ? other.minimum : into.minimum;
        into.maximum = none || other.maximum > into.maximum ? other.maximum : into.maximum;
        into.abs_minimum = none || other.abs_minimum < into.abs_minimum ? other.abs_minimum : into.abs_minimum;
        into.abs_maximum = none || other.abs_maximum > into.abs_maximum ? other.abs_maximum : into.abs_maximum;
    }
    into.finite += other.finite, into.zeros += other.zeros;
    into.nan += other.nan, into.pos_inf += other.pos_inf, into.neg_inf += other.neg_inf;
    into.first_bad = other.first_bad < into.first_bad ? other.first_bad : into.first_bad;
}
constexpr void tell(lane_state const& from, partial& into) noexcept {
    into.zeros = from.zeros, into.nan = from.nan, into.pos_inf = from.pos_inf, into.neg_inf = from.neg_inf;
    into.first_bad = from.first_bad;
    into.minimum = from.minimum, into.maximum = from.maximum;
    into.abs_minimum = from.abs_minimum, into.abs_maximum = from.abs_maximum;
}

[[nodiscard]] constexpr std::uint64_t blocks_of(task const& it) noexcept {
    return (it.count + block_size - 1) / block_size;
}
// The index of the task to which a block of the launch belongs.
[[nodiscard]] constexpr std::uint32_t task_of(task const* tasks, std::uint32_t count, std::uint64_t block) noexcept {
    std::uint32_t low = 0, high = count;  // tasks[low] begins at or before it, tasks[high] after it
    while (high - low > 1) {
        std::uint32_t const middle = low + (high - low) / 2;
        (tasks[middle].first_block <= block ? low : high) = middle;
    }
    return low;
}

// The sums of a tensor: the lanes of its blocks, in the order of blocks.
template <class Group>
SPOTTER_INLINE constexpr void fold_sums(Group const& group, task const& from, partial const* partials,
                                        result& into) noexcept {
    struct sums {
        double sum = 0, sum_abs = 0, sum_squares = 0;
    };
    typename Group::template own<sums> state;
    std::uint64_t const blocks = blocks_of(from);
    group.each([&](unsigned lane) {
        for (std::uint64_t i = 0; i < blocks; ++i) {
            partial const& each = partials[from.first_block + i];
            state[lane].sum += each.sum[lane];
            state[lane].sum_abs += each.sum_abs[lane];
            state[lane].sum_squares += each.sum_squares[lane];
        }
    });
    double const sum = group.fold(state, [](sums const& it) { return it.sum; });
    double const sum_abs = group.fold(state, [](sums const& it) { return it.sum_abs; });
    double const sum_squares = group.fold(state, [](sums const& it) { return it.sum_squares; });
    group.once([&] { into.sum = sum, into.sum_abs = sum_abs, into.sum_squares = sum_squares; });
}
// The other results, by one thread: counts, extremes and the second moment, which is a chain through all blocks.
constexpr void fold_counts(task const& from, partial const* partials, result& into) noexcept {
    moments spread;
    lane_state all;
    std::uint64_t zeros = 0, nan = 0, pos_inf = 0, neg_inf = 0, first_bad = no_index;
    std::uint64_t const blocks = blocks_of(from);
    for (std::uint64_t i = 0; i < blocks; ++i) {
        partial const& each = partials[from.first_block + i];
        zeros += each.zeros, nan += each.nan, pos_inf += each.pos_inf, neg_inf += each.neg_inf;
        if (first_bad == no_index && each.first_bad < block_size) { first_bad = i * block_size + each.first_bad; }
        if (each.finite == 0) { continue; }
        lane_state extremes;
        extremes.finite = 1;
        extremes.minimum = each.minimum, extremes.maximum = each.maximum;
        extremes.abs_minimum = each.abs_minimum, extremes.abs_maximum = each.abs_maximum;
        join(all, extremes);
        spread.merge(static_cast<double>(each.finite), each.mean, each.about_mean);
    }
    into.zeros = zeros, into.nan = nan, into.pos_inf = pos_inf, into.neg_inf = neg_inf, into.first_bad = first_bad;
    into.minimum = all.minimum, into.maximum = all.maximum;
    into.abs_minimum = all.abs_minimum, into.abs_maximum = all.abs_maximum;
    into.moment2 = spread.about_mean;
}

// A tensor's change since its previous values, by a group; each lane goes through the whole tensor.
struct change_state {
    double gap = 0, dot = 0, old = 0;
    std::uint64_t changed = 0;
    std::uint32_t bad = 0;  // number of non-finite elements on either side; only zero or non-zero matters

    constexpr void add(seen_element const& now, seen_element const& before) noexcept {
        bad |= now.kind >= number_class::pos_inf || before.kind >= number_class::pos_inf ? 1U : 0U;
        double const apart = now.value - before.value;
        double square = apart * apart;
        double product = now.value * before.value;
        force_rounding(square), force_rounding(product);
        gap += square, dot += product, old += before.square;
        changed += apart != 0 ? 1U : 0U;
    }
};
template <class Group>
SPOTTER_INLINE constexpr void take_change(Group const& group, task const& from, result& into) noexcept {
    typename Group::template own<change_state> state;
    group.each([&](unsigned lane) {
        for (std::uint64_t at = lane; at < from.count; at += lanes) {
            state[lane].add(see_at(from.type, from.values, at), see_at(from.type, from.before, at));
        }
    });
    double const gap = group.fold(state, [](change_state const& it) { return it.gap; });
    double const dot = group.fold(state, [](change_state const& it) { return it.dot; });
    double const old = group.fold(state, [](change_state const& it) { return it.old; });
    std::uint64_t const low = group.total(state, [](change_state const& it) {
        return static_cast<std::uint32_t>(it.changed & 0xFFFFFU);  // so that the sum of 16 fits 32 bits
    });
    std::uint64_t const high =
        group.total(state, [](change_state const& it) { return static_cast<std::uint32_t>(it.changed >> 20); });
    std::uint32_t const bad = group.total(state, [](change_state const& it) { return it.bad; });
    group.once([&] {
        into.delta_sum_squares = gap, into.dot = dot, into.previous_sum_squares = old;
        into.changed = (high << 20) + low;
        into.compared = bad == 0 ? 1 : 0;
    });
}

// The hash of stat/summarize.hpp, by one thread: four chains that take words in turn.
[[nodiscard]] inline std::uint64_t word_at(std::uint64_t address, std::uint64_t bytes) noexcept {
    if (bytes >= 8 && address % 8 == 0) { return *reinterpret_cast<std::uint64_t const*>(address); }
    auto const* const from = reinterpret_cast<unsigned char const*>(address);
    std::uint64_t word = 0;
    for (std::uint64_t i = 0; i < 8 && i < bytes; ++i) { word |= static_cast<std::uint64_t>(from[i]) << (8 * i); }
    return word;
}
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t word) noexcept {
    std::uint64_t const product = (a ^ word) * 0x9E3779B97F4A7C15ULL;
    return product << 29 | product >> 35;
}
[[nodiscard]] inline std::uint64_t hash_of(std::uint64_t values, std::uint64_t bytes) noexcept {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ULL;
    std::uint64_t a = bytes * odd, b = ~bytes, c = bytes + odd, d = odd;
    std::uint64_t words = 0;
    for (std::uint64_t i = 0; i < bytes; i += 8, ++words) {  // the chain whose turn it is comes first
        std::uint64_t const next = mix(a, word_at(values + i, bytes - i));
        a = b, b = c, c = d, d = next;
    }
    for (; words % 4 != 0; ++words) {
        std::uint64_t const first = a;
        a = b, b = c, c = d, d = first;
    }
    std::uint64_t hash = mix(mix(a, b), mix(c, d));
    hash ^= hash >> 32;
    hash *= 0xD6E8FEB86659FD93ULL;
    return hash ^ (hash >> 32);
}

}  // namespace spotter::inline SPOTTER_ABI::detail::cuda_pass
