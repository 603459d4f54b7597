// SPDX-License-Identifier: Apache-2.0
// Workbench, self_test: the bodies of planter.hpp.
#include "self_test/planter.hpp"

#include <spotter/stat/take_summary.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace spotter::inline SPOTTER_ABI::detail {

template <class Value>
[[nodiscard]] static Value narrowed(double value) noexcept {
    if constexpr (std::same_as<Value, float>) {
        constexpr double most = static_cast<double>((std::numeric_limits<float>::max)());
        if (value > most || value < -most) {
            return std::copysign(std::numeric_limits<float>::infinity(), value < 0 ? -1.0F : 1.0F);
        }
    }
    return static_cast<Value>(value);
}
// The number of a tensor's type that is nearest to `value`.
template <class Value>
static void put_number(std::byte* at, double value) noexcept {
    constexpr double least = static_cast<double>((std::numeric_limits<Value>::lowest)()),
                     most = static_cast<double>((std::numeric_limits<Value>::max)());
    Value const number = std::is_floating_point_v<Value>    ? narrowed<Value>(value)
                         : value != value || value <= least ? (std::numeric_limits<Value>::lowest)()
                         : value >= most                    ? (std::numeric_limits<Value>::max)()
                                                            : static_cast<Value>(value);
    std::memcpy(at, &number, sizeof number);
}
// Calls use(get, put) with accessors by element index, for the types of nets; false for others.
template <class Use>
[[nodiscard]] static bool with_numbers(dtype type, std::byte* bytes, Use const& use) {
    auto const as = [&]<class Value>(Value) {
        use(
            [bytes](std::uint64_t i) {
                Value number;
                std::memcpy(&number, bytes + i * sizeof number, sizeof number);
                return static_cast<double>(number);
            },
            [bytes](std::uint64_t i, double value) { put_number<Value>(bytes + i * sizeof(Value), value); });
        return true;
    };
    if (type == dtype::f32) { return as(float{}); }
    if (type == dtype::f64) { return as(double{}); }
    if (type == dtype::i32) { return as(std::int32_t{}); }
    if (type == dtype::i64) { return as(std::int64_t{}); }
    return type == dtype::u8 && as(std::uint8_t{});
}

// The summary of c x from that of x, if the previous values were scaled by `before`.
[[nodiscard]] static summary scaled_summary(summary const& x, double c, double before) noexcept {
    summary y = x;
    y.minimum = c * (c < 0 ? x.maximum : x.minimum), y.maximum = c * (c < 0 ? x.minimum : x.maximum);
    double const size = (std::abs)(c);
    y.abs_minimum = size * x.abs_minimum, y.abs_maximum = size * x.abs_maximum;
    y.sum = c * x.sum, y.sum_abs = size * x.sum_abs;
    y.sum_squares = c * c * x.sum_squares, y.moment2 = c * c * x.moment2;
    y.product = x.product * std::pow(c, static_cast<double>(x.finite()));
    if (c == 0) { y.zeros = x.finite(); }
    if (c != 1) { y.hash = x.hash ^ static_cast<std::uint64_t>(std::llround(1e6 * std::log(size + 1e-300))); }
    if (c == 0) { y.hash = 1; }
    // |c x - b p|^2, with x.x = |x - p|^2 + 2 x.p - p.p
    double const xx = x.delta_sum_squares + 2 * x.dot - x.previous_sum_squares, p = x.previous_sum_squares;
    y.delta_sum_squares = (std::max)(0.0, c * c * xx - 2 * c * before * x.dot + before * before * p);
    y.previous_sum_squares = before * before * p;
    y.dot = c * before * x.dot;
    if (c == 0 && before == 0) { y.changed = 0; }
    return y;
}

std::optional<fault_planter::change> fault_planter::change_of(observation const& it) {
    active_ = active_ || it.step == from_;
    if (!active_) { return {}; }
    if (it.tensor.role == fault_.role && it.step.mode == fault_.mode) {
        if (first_name_.empty()) { first_name_ = it.tensor.name; }
        return fault_.all || it.tensor.name == first_name_ ? std::optional{change{fault_.how, fault_.factor}}
                                                           : std::nullopt;
    }
    if (it.tensor.role != role::loss || it.step.mode != mode::train || fault_.loss == outcome_of_fault::as_recorded) {
        return {};
    }
    return fault_.loss == outcome_of_fault::rises ? change{alteration::growing, 1.02} : change{alteration::level, 1};
}

void fault_planter::take_values(tensor_ref const& from) {
    view_ = from;
    if (from.absent()) { return; }
    auto const* const first = static_cast<std::byte const*>(from.values.raw);
    bytes_.assign(first, first + from.bytes());
    view_.values.raw = bytes_.data();
}

double fault_planter::factor_at(change const& what, memory& of, observation const& it, tensor_ref const& values) {
    auto const k = static_cast<double>(of.steps);
    switch (what.how) {
        case alteration::growing:
            return std::pow(what.factor, (std::min)(k + 1, 600.0));
        case alteration::spikes:
            return of.steps % 50 == 49 ? what.factor : 1;
        case alteration::level: {
            summary const now = has(it.stats.has, stats_mask::sum) || values.absent()
                                    ? it.stats
                                    : take_summary(values, stats_mask::sum);
            double const mean = now.finite() > 0 ? now.sum / static_cast<double>(now.finite()) : 0;
            if (of.steps == 0) { of.level = mean; }
            return mean != 0 ? of.level / mean * (1 + 0.005 * std::sin(1.7 * k)) : 1;
        }
        default:
            return what.factor;
    }
}

void fault_planter::scale(double factor, memory& of, observation const& it) {
    stats_ = scaled_summary(it.stats, factor, of.factor);
    of.factor = factor;
    double const root = std::sqrt(stats_.sum_squares / static_cast<double>((std::max)(stats_.count, std::uint64_t{1})));
    double const largest =
        (std::max)({stats_.abs_maximum, (std::abs)(stats_.maximum), (std::abs)(stats_.minimum), root});
    if (it.tensor.type == dtype::f32 && largest > static_cast<double>((std::numeric_limits<float>::max)())) {
        stats_.pos_inf += stats_.finite();
        stats_.first_bad = 0;
        stats_.has_previous = false;
    }
    bool const fine = !view_.absent() && with_numbers(view_.type, bytes_.data(), [&](auto get, auto put) {
        for (std::uint64_t i = 0; i < view_.count; ++i) { put(i, factor * get(i)); }
    });
    if (!view_.absent() && !fine) { view_.values.raw = nullptr; }
    if (factor == 0 && !it.units.active.empty()) {
        active_units_.assign(it.units.active.size(), 0);
        units_.active = active_units_;
    }
}

void fault_planter::freeze(memory& of, observation const& it) {
    if (of.steps == 0) {
        of.frozen = it.stats;
        of.view = view_;
        of.values = bytes_;
        return;
    }
    bool const has_previous = it.stats.has_previous;
    std::uint64_t const previous = it.stats.previous_index;
    double const xx = of.frozen.delta_sum_squares + 2 * of.frozen.dot - of.frozen.previous_sum_squares;
    stats_ = of.frozen;
    stats_.has_previous = has_previous, stats_.previous_index = previous;
    stats_.previous_sum_squares = stats_.dot = has(of.frozen.has, stats_mask::sum_squares) ? of.frozen.sum_squares : xx;
    stats_.delta_sum_squares = 0;
    stats_.changed = 0;
    bytes_ = of.values;
    view_ = of.view;
    if (!view_.absent()) { view_.values.raw = bytes_.data(); }
}

bool fault_planter::move_rows(alteration how, observation const& it) {
    int const given = batch_axis_of(it.tensor.flags);
    bool const in_rows =
        view_.shape.rank > 0 && given <= 0 && (view_.shape.rank == 1 || view_.layout == order::row_major);
    std::uint64_t const rows = in_rows ? view_.shape.size[0] : 0;
    if (view_.absent() || rows < 2) { return false; }
    std::size_t const row = bytes_.size() / static_cast<std::size_t>(rows);
    std::vector<std::byte> const from = bytes_;
    for (std::uint64_t i = 0; i < rows; ++i) {
        std::uint64_t const other = how == alteration::one_row ? 0 : (i + rows / 2) % rows;
        std::memcpy(bytes_.data() + i * row, from.data() + other * row, row);
    }
    stats_mask const wanted = it.stats.has;
    stats_ = take_summary(view_, without(wanted, stats_mask::change));
    stats_.has = wanted;
    stats_.has_previous = false;
    units_ = {};
    return true;
}

void fault_planter::spoil(observation const& it) {
    stats_ = it.stats;
    ++stats_.nan;
    stats_.first_bad = 0;
    stats_.has_previous = false;
    bool const floating = !view_.absent() && is_floating(view_.type) &&
                          with_numbers(view_.type, bytes_.data(),
                                       [](auto, auto put) { put(0, std::numeric_limits<double>::quiet_NaN()); });
    if (!floating) { view_.values.raw = nullptr; }
}

observation fault_planter::alter(observation const& it) {
    auto const what = change_of(it);
    if (!what) { return it; }
    memory& of = tensors_[it.tensor.id];
    if (what->how == alteration::spikes && of.steps % 50 != 49 && of.factor == 1) {
        ++of.steps;
        return it;
    }
    take_values(it.features != nullptr ? it.features->values(it.view) : it.view);
    stats_ = it.stats;
    units_ = it.units;
    bool altered = true;
    switch (what->how) {
        case alteration::not_a_number:
            spoil(it);
            break;
        case alteration::frozen:
            freeze(of, it);
            break;
        case alteration::shuffled:
        case alteration::one_row:
            altered = move_rows(what->how, it);
            break;
        default:
            scale(factor_at(*what, of, it, view_), of, it);
    }
    ++of.steps;
    bool const its_own = it.tensor.role == fault_.role;
    saw_values_ = saw_values_ || (its_own && !view_.absent());
    if (!altered) { return it; }
    altered_tensors_ += its_own && !std::exchange(of.counted, true) ? 1U : 0U;
    features_.clear();
    features_.play_back(load_);
    return {it.tensor, it.step, stats_, view_, units_, nullptr, &features_, it.stream};
}

}  // namespace spotter::inline SPOTTER_ABI::detail
