// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): what the rules on classes share: the class of each label and each prediction, and which belong together.
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/units.hpp>

namespace spotter::inline SPOTTER_ABI {

// A class is a whole number from 0 on. A negative number (as for padding), a fraction, NaN and what is beyond is no class, and the sample
// is left out.
inline constexpr std::uint32_t most_classes = 1U << 16U;
inline constexpr std::uint32_t no_class = 0xFFFFFFFFU;

[[nodiscard]] constexpr std::uint32_t class_of(double const& value) noexcept {
    if (!is_finite(value) || value < 0 || value >= most_classes) { return no_class; }
    auto const whole = static_cast<std::uint32_t>(value);
    return static_cast<double>(whole) == value ? whole : no_class;
}

// The axis over which the largest element is a sample's class; no_axis where each element is a class already. Scores are a floating
// tensor with several columns (probabilities, logits, one-hot labels), and whatever `argmax` says.
[[nodiscard]] constexpr int scores_along(tensor_info const& tensor, tensor_ref const& values, bool argmax,
                                         int class_axis) noexcept {
    int const axis = unit_axis_of(values.shape, class_axis, batch_axis_of(tensor.flags));
    if (axis < 0) { return no_axis; }
    bool const several = values.shape.rank >= 2 && values.shape.size[static_cast<std::size_t>(axis)] > 1;
    return argmax || (several && is_floating(values.type)) ? axis : no_axis;
}

// Pushes the class of each sample, in storage order: of scores the first of the largest finite ones, -1 of a row without any.
template <class = only_where_called>
constexpr void extract_classes(tensor_ref const& values, int scores_axis, feature& out) noexcept {
    if (scores_axis < 0) {
        visit_values(values, [&](auto all) {
            for (auto const& each : all) {
                seen_element const it = detail::see(each);
                out.push(it.kind < number_class::pos_inf ? it.value : -1);
            }
        });
        return;
    }
    auto const classes = static_cast<std::size_t>(values.shape.size[static_cast<std::size_t>(scores_axis)]);
    for_each_row(values, scores_axis, [&](auto const& row) SPOTTER_STRICT {
        SPOTTER_STRICT_BODY
        double best = -1, highest = 0;
        for (std::size_t i = 0; i < classes; ++i) {
            seen_element const it = row(i);
            if (it.kind >= number_class::pos_inf || (best >= 0 && !(it.value > highest))) { continue; }
            best = static_cast<double>(i);
            highest = it.value;
        }
        out.push(best);
    });
}

// Classes in the order in which they were observed. Takes memory where a step brings more than any before.
class class_list {
public:
    [[nodiscard]] constexpr bool reserve(std::uint64_t most) noexcept {
        return most >= (1U << 24U) || all_.grow(static_cast<std::size_t>(most));
    }
    constexpr void add(std::span<double const> classes) noexcept {
        if (!all_.grow(count_ + classes.size())) {
            lacks_memory_ = true;
            return;
        }
        for (double const& each : classes) { all_[count_++] = class_of(each); }
    }
    constexpr void clear() noexcept { count_ = 0; }
    [[nodiscard]] constexpr std::span<std::uint32_t const> all() const noexcept { return {all_.data(), count_}; }

    [[nodiscard]] constexpr bool lacks_memory() const noexcept { return lacks_memory_; }

private:
    slots<std::uint32_t> all_;
    std::size_t count_ = 0;
    bool lacks_memory_ = false;  // something was not added
};

// Which tensors are labels, and which predictions.
struct class_parts {
    enum class part : std::uint8_t { none, label, prediction };
    slots<part> list;  // by tensor id

    [[nodiscard]] constexpr bool declare(tensor_info const& it, bool label, bool prediction) noexcept {
        if (!list.grow(it.id + std::size_t{1})) { return false; }
        list[it.id] = label ? part::label : prediction ? part::prediction : part::none;
        return true;
    }
    [[nodiscard]] constexpr bool is_label(tensor_info const& it) const noexcept {
        return list.holds(it.id) && list[it.id] == part::label;
    }
    [[nodiscard]] constexpr bool is_prediction(tensor_info const& it) const noexcept {
        return list.holds(it.id) && list[it.id] == part::prediction;
    }
};

// The labels and predictions of one step. They are paired by position, whichever is observed first; a step may bring several batches
// of both.
struct class_pairs {
    class_parts parts;
    class_list labels, predictions;
    std::string_view tensor{};  // the first labels of the step

    [[nodiscard]] constexpr bool declare(tensor_info const& it, bool label, bool prediction) noexcept {
        return parts.declare(it, label, prediction) && (label ? labels : predictions).reserve(it.shape.elements());
    }
    // The feature "classes". Rules with the same key extract the same, so that it is made once.
    [[nodiscard]] constexpr std::uint64_t key(tensor_info const& it, bool argmax, int class_axis) const noexcept {
        return key_of("classes", argmax && parts.is_prediction(it), class_axis);
    }
    constexpr void extract(observation const& it, tensor_ref const& values, bool argmax, int class_axis,
                           feature& out) const noexcept {
        if (it.step.mode == mode::predict) { return; }
        bool const scores = argmax && parts.is_prediction(it.tensor);
        extract_classes(values, scores_along(it.tensor, values, scores, class_axis), out);
    }
    constexpr void add(tensor_info const& it, std::span<double const> classes) noexcept {
        if (parts.is_prediction(it)) { predictions.add(classes); }
        if (!parts.is_label(it)) { return; }
        labels.add(classes);
        if (tensor.empty()) { tensor = it.name; }
    }
    // Calls `use(label, prediction)` for each pair of classes; for none where there are more of one than of the other.
    template <class Use>
    constexpr void each(Use&& use) const noexcept {
        std::span<std::uint32_t const> const given = labels.all(), said = predictions.all();
        if (given.size() != said.size()) { return; }
        for (std::size_t i = 0; i < said.size(); ++i) {
            if (given[i] != no_class && said[i] != no_class) { use(given[i], said[i]); }
        }
    }
    [[nodiscard]] constexpr bool lacks_memory() const noexcept {
        return labels.lacks_memory() || predictions.lacks_memory();
    }
    constexpr void clear() noexcept {
        labels.clear(), predictions.clear();
        tensor = {};
    }
};

// The first malformed of two patterns.
[[nodiscard]] constexpr std::string_view malformed_of(selector const& labels, selector const& predictions) noexcept {
    return labels.malformed().empty() ? predictions.malformed() : labels.malformed();
}

}  // namespace spotter::inline SPOTTER_ABI
