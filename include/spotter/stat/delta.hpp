// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the change of a tensor since its previous observation, against a retained copy.
#pragma once

#include <spotter/stat/lanes.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

struct element_change {
    double square;   // |x - previous|^2
    double product;  // of a complex number the real part of x times the conjugate of previous
    bool differs;
};
template <class Value>
[[nodiscard]] SPOTTER_STRICT constexpr element_change change_of(Value const& now, Value const& before) noexcept {
    SPOTTER_STRICT_BODY
    if constexpr (requires {
                      now.re;
                      now.im;
                  }) {
        element_change const re = change_of(now.re, before.re);
        element_change const im = change_of(now.im, before.im);
        return {re.square + im.square, re.product + im.product, re.differs || im.differs};
    } else {
        double const x = see(now).value;
        double const y = see(before).value;
        double const gap = x - y;
        double square = gap * gap;
        double product = x * y;
        settle(square), settle(product);
        return {square, product, gap != 0};
    }
}

}  // namespace detail

// Fills the delta fields of `into`. Where the type, shape or order changed, and where either side has a non-finite element, the
// delta stays undefined (has_previous false): a change from or to NaN has no size. Sums are lane sums over the whole tensor.
template <class = only_where_called>
SPOTTER_STRICT constexpr void compare_with_previous(tensor_ref const& now, tensor_ref const& before,
                                                    std::uint64_t previous_index, summary& into) noexcept {
    SPOTTER_STRICT_BODY
    into.has |= terms::delta;
    into.has_previous = false;
    if (now.type != before.type || now.shape != before.shape || now.layout != before.layout) { return; }
    lane_sums gap, dot, old;
    std::uint64_t changed = 0;
    bool finite = true;
    visit_values(now, [&]<class Value>(element_view<Value> values) SPOTTER_STRICT {
        SPOTTER_STRICT_BODY
        Value const* const previous = detail::pointer_in<Value>(before.values);
        for (std::size_t i = 0; i < values.size(); ++i) {
            seen_element const x = detail::see(values[i]);
            seen_element const y = detail::see(previous[i]);
            finite = finite && x.kind < number_class::pos_inf && y.kind < number_class::pos_inf;
            detail::element_change const change = detail::change_of(values[i], previous[i]);
            std::size_t const lane = i % lane_count;
            gap.lane[lane] += change.square;
            dot.lane[lane] += change.product;
            old.lane[lane] += y.square;
            changed += change.differs ? 1 : 0;
        }
    });
    into.has_previous = finite;
    into.previous_index = previous_index;
    into.previous_sum_squares = old.fold();
    into.delta_sum_squares = gap.fold();
    into.dot = dot.fold();
    into.changed = changed;
}

}  // namespace spotter::inline SPOTTER_ABI
