// SPDX-License-Identifier: Apache-2.0
// The bodies of planted_fault.hpp.
#pragma once

#include <spotter/replay/planted_fault.hpp>
#include <spotter/stat/take_summary.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::span<planted_fault const> planted_faults() noexcept {
    using enum alteration;
    using enum outcome_of_fault;
    constexpr bool every = true, first = false, early = true, midway = false;
    static constexpr planted_fault all[] = {
        {"nan_gradient",
         "one value of a gradient is not a number",
         "gradients",
         role::gradient,
         mode::train,
         first,
         midway,
         not_a_number,
         1,
         as_recorded,
         {name_of(rule_id::non_finite)}},
        {"nan_loss",
         "the loss is not a number",
         "the loss",
         role::loss,
         mode::train,
         every,
         midway,
         not_a_number,
         1,
         as_recorded,
         {name_of(rule_id::non_finite)}},
        {"exploding_gradients",
         "gradients double at every step, and the loss rises",
         "gradients",
         role::gradient,
         mode::train,
         every,
         midway,
         growing,
         2,
         rises,
         {name_of(rule_id::exploding_gradient), name_of(rule_id::gradient_spike), name_of(rule_id::update_ratio_band)}},
        {"gradient_spikes",
         "gradients are a thousand times larger at every 50th step",
         "gradients",
         role::gradient,
         mode::train,
         every,
         midway,
         spikes,
         1000,
         as_recorded,
         {name_of(rule_id::gradient_spike)}},
        {"vanishing_gradients",
         "gradients are a hundred millionth of what they were, and the loss stands still",
         "gradients",
         role::gradient,
         mode::train,
         every,
         early,
         scaled,
         1e-8,
         stands_still,
         {name_of(rule_id::vanishing_gradient), name_of(rule_id::gradient_depth_ratio)}},
        {"dead_layer",
         "all activations of a layer are zero, and the loss stands still",
         "activations",
         role::activation,
         mode::train,
         first,
         early,
         scaled,
         0,
         stands_still,
         {name_of(rule_id::dead_relu), name_of(rule_id::dormant_units), name_of(rule_id::all_zero)}},
        {"zero_weights",
         "all weights of a layer are zero, and the loss stands still",
         "weights",
         role::weight,
         mode::train,
         first,
         early,
         scaled,
         0,
         stands_still,
         {name_of(rule_id::all_zero)}},
        {"frozen_layer",
         "the weights of a layer never change",
         "weights",
         role::weight,
         mode::train,
         first,
         early,
         frozen,
         1,
         as_recorded,
         {name_of(rule_id::dead_update_path), name_of(rule_id::unchanged_tensor)}},
        {"flat_loss",
         "the loss stands still",
         "the loss",
         role::loss,
         mode::train,
         every,
         early,
         level,
         1,
         as_recorded,
         {name_of(rule_id::loss_not_decreasing), name_of(rule_id::stalled_training)}},
        {"rising_loss",
         "the loss rises by 2 % a step",
         "the loss",
         role::loss,
         mode::train,
         every,
         early,
         growing,
         1.02,
         as_recorded,
         {name_of(rule_id::loss_not_decreasing), name_of(rule_id::loss_spike)}},
        {"overfitting",
         "the loss in evaluation rises by 10 % an evaluation",
         "the loss in mode eval",
         role::loss,
         mode::eval,
         every,
         midway,
         growing,
         1.1,
         as_recorded,
         {name_of(rule_id::overfit), name_of(rule_id::overtraining)}},
        {"shuffled_labels",
         "labels belong to other samples, and the loss stands still",
         "labels and predictions, with their values",
         role::label,
         mode::train,
         every,
         early,
         shuffled,
         1,
         stands_still,
         {name_of(rule_id::unrelated_predictions), name_of(rule_id::no_better_than_guessing)}},
        {"one_class",
         "all samples of a batch have one label",
         "labels, with their values",
         role::label,
         mode::train,
         every,
         early,
         one_row,
         1,
         as_recorded,
         {name_of(rule_id::class_imbalance)}},
        {"collapsed_output",
         "the net gives the same output for every sample, and the loss stands still",
         "predictions, with their values",
         role::prediction,
         mode::train,
         every,
         early,
         one_row,
         1,
         stands_still,
         {name_of(rule_id::output_collapse)}},
        {"same_batch",
         "every step has the same batch",
         "inputs, with their hash or values",
         role::input,
         mode::train,
         every,
         early,
         frozen,
         1,
         as_recorded,
         {name_of(rule_id::constant_batch)}},
        {"unscaled_input",
         "inputs are 255 times as large, and the loss stands still",
         "inputs",
         role::input,
         mode::train,
         every,
         early,
         scaled,
         255,
         stands_still,
         {name_of(rule_id::input_not_normalized)}},
        {"slow_steps",
         "every 50th step takes ten times as long",
         "times of steps",
         role::timing,
         mode::train,
         every,
         midway,
         spikes,
         10,
         as_recorded,
         {name_of(rule_id::step_time_outlier)}},
    };
    return all;
}

namespace detail {

template <class Value>
[[nodiscard]] Value narrowed(double value) noexcept {
    if constexpr (std::same_as<Value, float>) {
        constexpr double most = static_cast<double>((std::numeric_limits<float>::max)());
        if (value > most || value < -most) {
            return std::copysign(std::numeric_limits<float>::infinity(), value < 0 ? -1.0F : 1.0F);
        }
    }
    return static_cast<Value>(value);
}
// A number of a tensor's type as near to `value` as it comes.
template <class Value>
void put_number(std::byte* at, double value) noexcept {
    constexpr double least = static_cast<double>((std::numeric_limits<Value>::lowest)()),
                     most = static_cast<double>((std::numeric_limits<Value>::max)());
    Value const number = std::is_floating_point_v<Value>    ? narrowed<Value>(value)
                         : value != value || value <= least ? (std::numeric_limits<Value>::lowest)()
                         : value >= most                    ? (std::numeric_limits<Value>::max)()
                                                            : static_cast<Value>(value);
    std::memcpy(at, &number, sizeof number);
}
// Calls use(get, put) with functions of an element's place, for the types that nets are made of; false for others.
template <class Use>
[[nodiscard]] bool with_numbers(dtype type, std::byte* bytes, Use const& use) {
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
    switch (type) {
        case dtype::f32:
            return as(float{});
        case dtype::f64:
            return as(double{});
        case dtype::i32:
            return as(std::int32_t{});
        case dtype::i64:
            return as(std::int64_t{});
        case dtype::u8:
            return as(std::uint8_t{});
        default:
            return false;
    }
}

// What a summary of x says of c x, where the values before were scaled by `before`.
[[nodiscard]] SPOTTER_BODY summary scaled_summary(summary const& x, double c, double before) noexcept {
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
    // |c x - b p|^2, of x.x = |x - p|^2 + 2 x.p - p.p
    double const xx = x.delta_sum_squares + 2 * x.dot - x.previous_sum_squares, p = x.previous_sum_squares;
    y.delta_sum_squares = (std::max)(0.0, c * c * xx - 2 * c * before * x.dot + before * before * p);
    y.previous_sum_squares = before * before * p;
    y.dot = c * before * x.dot;
    if (c == 0 && before == 0) { y.changed = 0; }
    return y;
}

SPOTTER_BODY std::optional<fault_planter::change> fault_planter::change_of(observation const& it) {
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

SPOTTER_BODY void fault_planter::take_values(tensor_ref const& from) {
    view_ = from;
    if (from.absent()) { return; }
    auto const* const first = static_cast<std::byte const*>(from.values.raw);
    bytes_.assign(first, first + from.bytes());
    view_.values.raw = bytes_.data();
}

SPOTTER_BODY double fault_planter::factor_at(change const& what, memory& of, observation const& it,
                                             tensor_ref const& values) {
    auto const k = static_cast<double>(of.steps);
    switch (what.how) {
        case alteration::growing:
            return std::pow(what.factor, (std::min)(k + 1, 600.0));
        case alteration::spikes:
            return of.steps % 50 == 49 ? what.factor : 1;
        case alteration::level: {
            summary const now =
                has(it.stats.has, terms::sum) || values.absent() ? it.stats : take_summary(values, terms::sum);
            double const mean = now.finite() > 0 ? now.sum / static_cast<double>(now.finite()) : 0;
            if (of.steps == 0) { of.level = mean; }
            return mean != 0 ? of.level / mean * (1 + 0.005 * std::sin(1.7 * k)) : 1;
        }
        default:
            return what.factor;
    }
}

SPOTTER_BODY void fault_planter::scale(double factor, memory& of, observation const& it) {
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

SPOTTER_BODY void fault_planter::freeze(memory& of, observation const& it) {
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
    stats_.previous_sum_squares = stats_.dot = has(of.frozen.has, terms::sum_squares) ? of.frozen.sum_squares : xx;
    stats_.delta_sum_squares = 0;
    stats_.changed = 0;
    bytes_ = of.values;
    view_ = of.view;
    if (!view_.absent()) { view_.values.raw = bytes_.data(); }
}

SPOTTER_BODY bool fault_planter::move_rows(alteration how, observation const& it) {
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
    terms const wanted = it.stats.has;
    stats_ = take_summary(view_, without(wanted, terms::change));
    stats_.has = wanted;
    stats_.has_previous = false;
    units_ = {};
    return true;
}

SPOTTER_BODY void fault_planter::spoil(observation const& it) {
    stats_ = it.stats;
    ++stats_.nan;
    stats_.first_bad = 0;
    stats_.has_previous = false;
    bool const floating = !view_.absent() && is_floating(view_.type) &&
                          with_numbers(view_.type, bytes_.data(),
                                       [](auto, auto put) { put(0, std::numeric_limits<double>::quiet_NaN()); });
    if (!floating) { view_.values.raw = nullptr; }
}

SPOTTER_BODY observation fault_planter::alter(observation const& it) {
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
    if (!altered) { return it; }
    bool const its_own = it.tensor.role == fault_.role;
    altered_tensors_ += its_own && !std::exchange(of.counted, true) ? 1U : 0U;
    features_.clear();
    features_.play_back(load_);
    return {it.tensor, it.step, stats_, view_, units_, nullptr, &features_, it.stream};
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
