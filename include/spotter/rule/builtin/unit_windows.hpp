// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): shared by the rules on units: sums for each unit of a layer, collected over several steps and
// then judged.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/units.hpp>

namespace spotter::inline SPOTTER_ABI {

// For each unit of a layer: the number of finite elements, and the sum of a quantity over them.
struct unit_window {
    slot_array<double> amount, finite;  // by unit
    std::size_t units = 0;              // judged units; 0: the window has not begun, or has no memory

    // Empties the window. Without memory it has no units and is never complete.
    constexpr bool begin(std::size_t count) noexcept {
        units = amount.grow(count) && finite.grow(count) ? count : 0;
        for (std::size_t unit = 0; unit < units; ++unit) { amount[unit] = 0, finite[unit] = 0; }
        return units == count;
    }
    // Adds one observation of a unit.
    SPOTTER_STRICT constexpr void add(std::size_t unit, double const& added, double const& count) noexcept {
        SPOTTER_STRICT_BODY
        if (!is_finite(added) || !is_finite(count)) { return; }
        amount[unit] += added;
        finite[unit] += count;
    }
    // The unit has at least `samples` finite elements, and at least one.
    [[nodiscard]] constexpr bool known(std::size_t unit, std::uint64_t samples) const noexcept {
        return finite[unit] > 0 && finite[unit] >= static_cast<double>(samples);
    }
    // True once the first unit is known: a unit that is never finite must not prevent judging the others.
    [[nodiscard]] constexpr bool complete(std::uint64_t samples) const noexcept {
        for (std::size_t unit = 0; unit < units; ++unit) {
            if (known(unit, samples)) { return true; }
        }
        return false;
    }
    // The share of known units whose mean amount is below `limit`.
    [[nodiscard]] SPOTTER_STRICT constexpr double share_below(double limit, std::uint64_t samples) const noexcept {
        SPOTTER_STRICT_BODY
        std::uint64_t low = 0, judged = 0;
        for (std::size_t unit = 0; unit < units; ++unit) {
            if (!known(unit, samples)) { continue; }
            low += amount[unit] / finite[unit] < limit ? 1U : 0U;
            ++judged;
        }
        return static_cast<double>(low) / static_cast<double>(judged);
    }
};

// The windows of a rule, one for each tensor. A window ends at the close where a unit has enough finite elements; then
// the next begins.
class unit_windows {
public:
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor, std::uint64_t units) noexcept {
        unit_window* const mine = windows_.declare(tensor);
        if (mine == nullptr) { return false; }
        std::size_t const judged = unit_sample{as_size(units)}.size();
        return mine->units == judged || mine->begin(judged);
    }
    constexpr void add(observation const& it, unit_activity const& seen) noexcept {
        unit_sample const judged{seen.active.size()};
        unit_window* const mine = window_of(it, judged.size());
        if (mine == nullptr) { return; }
        for (std::size_t unit = 0; unit < mine->units; ++unit) {
            mine->add(unit, seen.active[judged[unit]], seen.finite[judged[unit]]);
        }
    }
    // Adds a feature that `extract_units` made. `read` converts its stored sums.
    template <class Read>
    constexpr void add(observation const& it, std::span<double const> sums, Read read) noexcept {
        unit_window* const mine = window_of(it, sums.size() / 2);
        if (mine == nullptr) { return; }
        for (std::size_t unit = 0; unit < mine->units; ++unit) {
            mine->add(unit, read(sums[2 * unit]), sums[2 * unit + 1]);
        }
    }
    constexpr void add(observation const& it, std::span<double const> sums) noexcept {
        add(it, sums, [](double each) { return each; });
    }
    // At a close: undecided unless a window is complete; yes where `share_of(window)` is above `limit`, which the
    // finding has as its threshold.
    template <class Share>
    constexpr truth close(std::uint64_t samples, double limit, std::string_view reason, std::string_view measure,
                          findings& out, Share&& share_of) noexcept {
        truth answer = truth::undecided;
        violation found;
        windows_.take_touched([&](std::string_view name, unit_window& mine) {
            if (!mine.complete(samples)) { return; }
            double const share = share_of(mine);
            if (share > limit) { found.blame(name, share); }
            answer = truth_of(found.count > 0);
            mine.begin(mine.units);
        });
        found.tell(out, reason, measure, relation::greater, limit);
        return answer;
    }

    // Some layer's units are not judged.
    [[nodiscard]] constexpr bool lacks_memory() const noexcept { return lacks_memory_; }

private:
    [[nodiscard]] constexpr unit_window* window_of(observation const& it, std::size_t units) noexcept {
        if (units == 0) { return nullptr; }
        unit_window* const mine = windows_.reach(it.tensor.id);
        if (mine != nullptr && mine->units != units) { lacks_memory_ = !mine->begin(units) || lacks_memory_; }
        return mine;
    }

    per_tensor<unit_window> windows_;
    bool lacks_memory_ = false;  // for units that were added later
};

// As unit_axis_of, with the tensor's batch axis.
[[nodiscard]] constexpr int units_along(tensor_info const& tensor, extents const& shape, int asked) noexcept {
    return unit_axis_of(shape, asked, batch_axis_of(tensor.flags));
}

// Pushes the feature of a rule on units: for each judged unit (unit_sample) the sum of `amount(element)` over its
// finite elements, then their number. `scratch` holds two values for each unit of the tensor.
template <class Amount>
constexpr void extract_units(tensor_ref const& values, int axis, slot_array<double>& scratch, feature& out,
                             Amount&& amount, std::size_t most = unit_sample::most_units) noexcept {
    auto const units = as_size(unit_count(values.shape, axis));
    if (axis < 0) { return; }
    if (!scratch.grow(2 * units)) { return out.give_up(); }
    for (std::size_t i = 0; i < 2 * units; ++i) { scratch[i] = 0; }
    for_each_unit(values, axis, [&](std::size_t unit, seen_element const& it) SPOTTER_STRICT {
        SPOTTER_STRICT_BODY
        if (it.kind >= number_class::pos_inf) { return; }
        scratch[2 * unit] += amount(it);
        scratch[2 * unit + 1] += 1;
    });
    unit_sample const judged{units, most};
    for (std::size_t i = 0; i < judged.size(); ++i) {
        out.push(scratch[2 * judged[i]]);
        out.push(scratch[2 * judged[i] + 1]);
    }
}

}  // namespace spotter::inline SPOTTER_ABI
