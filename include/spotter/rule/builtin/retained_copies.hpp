// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the values of a tensor's last observations, for comparison with new ones.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/stat/any_values.hpp>

namespace spotter::inline SPOTTER_ABI {

// |now - before| <= atol + rtol |before|, as in numpy.isclose. Infinities equal themselves; NaN equals NaN only with
// `equal_nan`.
struct closeness {
    double rtol = 0, atol = 0;  // relative to |before|; in the unit of the values
    bool equal_nan = false;     // a NaN equals a NaN

    [[nodiscard]] SPOTTER_STRICT constexpr bool operator()(double const& now, double const& before) const noexcept {
        SPOTTER_STRICT_BODY
        number_class const kind = classify(now), old = classify(before);
        if (kind >= number_class::pos_inf || old >= number_class::pos_inf) {
            return kind == old && (kind != number_class::nan || equal_nan);
        }
        double allowed = rtol * magnitude(before);
        force_rounding(allowed);
        return magnitude(now - before) <= atol + allowed;
    }
};

namespace detail {

// Calls `use(index, value)` until it returns false; returns whether it never did. Includes infinities and NaN.
template <class Use>
constexpr bool each_component(tensor_ref const& tensor, Use&& use) noexcept {
    bool go_on = true;
    std::size_t count = 0;
    auto const give = [&](auto const& element) {
        seen_element const it = see(element);
        std::uint64_t const bits = it.kind == number_class::pos_inf   ? f64_bits::exponent
                                   : it.kind == number_class::neg_inf ? f64_bits::exponent | f64_bits::sign
                                   : it.kind == number_class::nan     ? f64_bits::exponent | 1U
                                                                      : std::bit_cast<std::uint64_t>(it.value);
        double const value = std::bit_cast<double>(bits);
        go_on = go_on && use(count++, value);
    };
    visit_seen(parts_of(tensor), [&](auto const& values) {
        for (auto const& each : values) {
            if (!go_on) { return; }
            give(each);
        }
    });
    return go_on;
}

}  // namespace detail

// Keeps values as doubles; a complex number as two.
class retained_copies {
public:
    // Reserves room for `copies` of `elements` each.
    [[nodiscard]] constexpr bool keep(std::uint64_t copies, std::uint64_t elements) noexcept {
        if (!copies_.grow(as_size(copies))) { return false; }
        most_ = as_size(copies);
        for (std::size_t i = 0; i < most_; ++i) {
            if (!copies_[i].values.grow(as_size(elements))) { return false; }
        }
        return true;
    }
    // The number of copies, counted from the newest back, that the values agree with. A copy of another size never
    // agrees.
    [[nodiscard]] constexpr std::uint64_t count_agreeing(tensor_ref const& now, closeness close) const noexcept {
        for (std::size_t back = 0; back < count_; ++back) {
            if (!agrees(now, copies_[(next_ + most_ - 1 - back) % most_], close)) { return back; }
        }
        return count_;
    }
    // False where memory is exhausted; the incomplete copy then never agrees.
    [[nodiscard]] constexpr bool add(tensor_ref const& values) noexcept {
        if (most_ == 0) { return true; }
        copy& mine = copies_[next_];
        mine.size = 0;
        bool const whole = detail::each_component(values, [&](std::size_t i, double const& value) {
            if (!mine.values.grow(i + 1)) { return false; }  // larger than declared
            mine.values[i] = value;
            mine.size = i + 1;
            return true;
        });
        if (!whole) { mine.size = 0; }
        next_ = (next_ + 1) % most_;
        count_ = count_ < most_ ? count_ + 1 : most_;
        return whole;
    }

private:
    struct copy {
        slot_array<double> values;
        std::size_t size = 0;
    };

    [[nodiscard]] static constexpr bool agrees(tensor_ref const& now, copy const& before, closeness close) noexcept {
        std::size_t size = 0;
        bool const equal = detail::each_component(now, [&](std::size_t i, double const& value) {
            size = i + 1;
            return i < before.size && close(value, before.values[i]);
        });
        return equal && size == before.size;
    }

    slot_array<copy> copies_;
    std::size_t most_ = 0, count_ = 0, next_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
