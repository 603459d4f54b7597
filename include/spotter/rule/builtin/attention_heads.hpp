// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): shared by the rules on attention. For each head: how spread its weights are, which key gets most
// of them, and which other head is the most similar.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/any_values.hpp>

namespace spotter::inline SPOTTER_ABI {

// Reads attention weights [head, query, key] or [batch, head, query, key], after the softmax: of the first 96 heads,
// and of at most 64 queries of the batch, fewer where heads times keys is large. Keys beyond the last one that any head
// attends to from a query count as masked. A query with fewer than `least_keys` unmasked keys is skipped. Weights are
// divided by their sum, which is not 1 under dropout.
struct attention_heads {
    // Limits on how much of a tensor is read. `least_keys`: the fewest unmasked keys of a query that counts.
    static constexpr std::size_t most_queries = 64, most_values = std::size_t{1} << 18U, least_keys = 4,
                                 most_heads = 96;

    // Means over the queries.
    struct head {
        double entropy = 0;   // of a query's weights, over the logarithm of the number of its keys: 0 to 1
        double share = 0;     // of the weight on the key that gets the most, the same key for all queries
        double position = 0;  // index of that key
        // Total variation distance to the nearest other head, half the sum of |difference| of a query's weights: 0 to
        // 1.
        double distance = 1;
        double next = 0;  // index of that head; its own index where there is no other
    };
    static constexpr std::size_t numbers = 5;  // values a head in a feature: whole numbers, which are short in a record
    static constexpr double fine = 10'000;     // shares are stored in units of 1 / fine

    // Memory for the sums of `extract`.
    struct scratch {
        slot_array<double> row;        // [head, key]: of the current query
        slot_array<double> keys;       // [head, key]: sums over queries
        slot_array<double> distances;  // [head, head]
        slot_array<head> heads;
    };

    struct sizes {  // sizes of the weights and their strides in memory; all 0 where the tensor has no such weights
        std::size_t samples = 0, heads = 0, queries = 0, keys = 0;  // 1 sample where there is no batch axis
        std::size_t sample_step = 0, head_step = 0, query_step = 0, key_step = 0;  // elements

        // There are weights to read.
        [[nodiscard]] constexpr bool fit() const noexcept {
            return samples > 0 && heads > 0 && queries > 0 && keys >= least_keys;
        }
    };
    // For rank 3 or 4; heads beyond most_heads are left out.
    [[nodiscard]] static constexpr sizes sizes_of(extents const& shape, order layout) noexcept {
        if (shape.rank != 3 && shape.rank != 4) { return {}; }
        std::size_t step[4] = {0, 1, 1, 1}, size[4] = {1, 1, 1, 1};
        std::size_t const first = 4U - shape.rank;
        for (std::size_t i = 0; i < shape.rank; ++i) { size[first + i] = static_cast<std::size_t>(shape.size[i]); }
        if (layout == order::row_major) {
            for (std::size_t i = 3; i > first; --i) { step[i - 1] = step[i] * size[i]; }
        } else {
            step[first] = 1;
            for (std::size_t i = first; i < 3; ++i) { step[i + 1] = step[i] * size[i]; }
        }
        return {size[0], size[1] < most_heads ? size[1] : most_heads, size[2], size[3], step[0], step[1], step[2],
                step[3]};
    }

    // False where memory is exhausted.
    [[nodiscard]] static constexpr bool make_room(scratch& own, sizes const& of) noexcept {
        return !of.fit() || (own.row.grow(of.heads * of.keys) && own.keys.grow(of.heads * of.keys) &&
                             own.distances.grow(of.heads * of.heads) && own.heads.grow(of.heads));
    }
    // Pushes `numbers` values for each head. Pushes nothing where the values are no attention weights, or where no
    // query has enough keys.
    static constexpr void extract(scratch& own, tensor_ref const& values, feature& out) noexcept {
        sizes const of = sizes_of(values.shape, values.layout);
        if (!of.fit()) { return; }
        if (!make_room(own, of)) { return out.give_up(); }
        std::size_t const seen = add_up(own, values, of);
        if (seen == 0) { return; }
        finish(own, of, static_cast<double>(seen));
        for (std::size_t i = 0; i < of.heads; ++i) {
            head const& it = own.heads[i];
            out.push(rounded(it.entropy)), out.push(rounded(it.share)), out.push(it.position);
            out.push(rounded(it.distance)), out.push(it.next);
        }
    }
    // The number of heads in a feature; 0 for a malformed one, as from a damaged record.
    [[nodiscard]] static constexpr std::size_t count_in(std::span<double const> made) noexcept {
        for (double const& each : made) {
            if (!is_finite(each) || each < 0 || each >= 0x1p32) { return 0; }
        }
        return made.size() % numbers == 0 ? made.size() / numbers : 0;
    }
    // One head of a feature; requires which < count_in(made).
    [[nodiscard]] SPOTTER_STRICT static constexpr head of(std::span<double const> made, std::size_t which) noexcept {
        SPOTTER_STRICT_BODY
        std::span<double const> const it = made.subspan(which * numbers, numbers);
        return {it[0] / fine, it[1] / fine, it[2], it[3] / fine, it[4]};
    }

private:
    [[nodiscard]] SPOTTER_STRICT static constexpr double rounded(double share) noexcept {
        SPOTTER_STRICT_BODY
        double whole = share * fine;
        force_rounding(whole);
        return static_cast<double>(static_cast<std::uint32_t>(whole + 0.5));
    }
    static constexpr std::size_t add_up(scratch& own, tensor_ref const& values, sizes const& of) noexcept {
        for (std::size_t i = 0; i < of.heads * of.keys; ++i) { own.keys[i] = 0; }
        for (std::size_t i = 0; i < of.heads * of.heads; ++i) { own.distances[i] = 0; }
        for (std::size_t i = 0; i < of.heads; ++i) { own.heads[i] = {}; }
        std::size_t const all = of.samples * of.queries, fitting = most_values / (of.heads * of.keys);
        std::size_t most = fitting < 4 ? 4 : fitting > most_queries ? most_queries : fitting;
        if (all < most) { most = all; }
        std::size_t const part = all / most;  // one query of each part, at an offset that changes from part to part
        std::size_t seen = 0;
        visit_seen(values, [&](auto const& elements) {
            for (std::size_t i = 0; i < most; ++i) {
                std::size_t const at = i * part + (i * 40503U >> 3U) % part;
                seen += add_query(own, elements, of, at / of.queries, at % of.queries) ? 1U : 0U;
            }
        });
        return seen;
    }
    // The shares of one head. `reach`: behind the last key that any head looks at. False where they are none.
    template <class Elements>
    SPOTTER_STRICT static constexpr bool take_row(double* row, Elements const& elements, sizes const& of,
                                                  std::size_t first, std::size_t& reach) noexcept {
        SPOTTER_STRICT_BODY
        double total = 0;
        for (std::size_t k = 0; k < of.keys; ++k) {
            seen_element const it = detail::see(elements[first + k * of.key_step]);
            if (it.kind >= number_class::pos_inf || it.value < 0) { return false; }
            row[k] = it.value;
            total += it.value;
            if (it.value > 0 && k >= reach) { reach = k + 1; }
        }
        if (!(total > 0.25 && total < 4)) { return false; }  // scores before the softmax, or a query of padding
        for (std::size_t k = 0; k < of.keys; ++k) { row[k] /= total; }
        return true;
    }
    template <class Elements>
    SPOTTER_STRICT static constexpr bool add_query(scratch& own, Elements const& elements, sizes const& of,
                                                   std::size_t sample, std::size_t query) noexcept {
        SPOTTER_STRICT_BODY
        std::size_t reach = 0;
        for (std::size_t h = 0; h < of.heads; ++h) {
            std::size_t const first = sample * of.sample_step + h * of.head_step + query * of.query_step;
            if (!take_row(own.row.data() + h * of.keys, elements, of, first, reach)) { return false; }
        }
        if (reach < least_keys) { return false; }
        double const most = natural_log(static_cast<double>(reach));
        for (std::size_t h = 0; h < of.heads; ++h) {
            double const* const row = own.row.data() + h * of.keys;
            double entropy = 0;
            for (std::size_t k = 0; k < reach; ++k) {
                double term = row[k] > 0 ? row[k] * natural_log(row[k]) : 0;
                force_rounding(term);
                entropy -= term;
                own.keys[h * of.keys + k] += row[k];
            }
            own.heads[h].entropy += entropy / most;
            for (std::size_t other = h + 1; other < of.heads; ++other) {
                double const* const beside = own.row.data() + other * of.keys;
                double apart = 0;
                for (std::size_t k = 0; k < reach; ++k) { apart += magnitude(row[k] - beside[k]); }
                own.distances[h * of.heads + other] += apart / 2;
            }
        }
        return true;
    }
    SPOTTER_STRICT static constexpr void finish(scratch& own, sizes const& of, double seen) noexcept {
        SPOTTER_STRICT_BODY
        for (std::size_t h = 0; h < of.heads; ++h) {
            head& it = own.heads[h];
            it.entropy /= seen;
            it.next = static_cast<double>(h);
            for (std::size_t k = 0; k < of.keys; ++k) {
                double const share = own.keys[h * of.keys + k] / seen;
                if (share > it.share) { it.share = share, it.position = static_cast<double>(k); }
            }
            for (std::size_t other = 0; other < of.heads; ++other) {
                if (other == h) { continue; }
                std::size_t const low = h < other ? h : other, high = h < other ? other : h;
                double const apart = own.distances[low * of.heads + high] / seen;
                if (it.next == static_cast<double>(h) || apart < it.distance) {
                    it.distance = apart, it.next = static_cast<double>(other);
                }
            }
        }
    }
};

}  // namespace spotter::inline SPOTTER_ABI
