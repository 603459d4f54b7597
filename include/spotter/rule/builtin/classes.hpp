// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): shared by the rules on classes: the class of each label and of each prediction, and their pairs.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/any_values.hpp>
#include <spotter/stat/units.hpp>

#include <bit>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Of a rule that holds in evaluation alone.
inline constexpr std::string_view evaluation_remedy =
    "Check that labels belong to their inputs, and that evaluation prepares its data as training does.";

// A value with its standard error. Error 0: nothing was measured.
struct estimate {
    double value = 0, error = 0;
};
// It is below the other by `apart` standard errors of their difference.
[[nodiscard]] SPOTTER_STRICT constexpr bool is_below(estimate it, estimate other, double apart) noexcept {
    SPOTTER_STRICT_BODY
    double const variance = rounded_product(it.error, it.error) + rounded_product(other.error, other.error);
    return other.error > 0 && other.value - it.value > apart * square_root(variance);
}

}  // namespace detail

// A class is a whole number from 0 to most_classes - 1. Anything else is no class (negative numbers, as for padding;
// fractions; NaN), and the sample is left out.
inline constexpr std::uint32_t most_classes = 1U << 16U;
inline constexpr std::uint32_t no_class = 0xFFFFFFFFU;  // of a sample without a class

// The class; no_class where the value is not one.
[[nodiscard]] constexpr std::uint32_t class_of(double const& value) noexcept {
    if (!is_finite(value) || value < 0 || value >= most_classes) { return no_class; }
    auto const whole = static_cast<std::uint32_t>(value);
    return static_cast<double>(whole) == value ? whole : no_class;
}

// Whether the scores of a row are logarithms of probabilities; undecided where one is NaN or infinity. Minus infinity
// is the logarithm of 0.
template <class Row>
[[nodiscard]] SPOTTER_STRICT constexpr truth sums_to_one(Row const& row, std::size_t classes) noexcept {
    SPOTTER_STRICT_BODY
    double const least = -natural_log(static_cast<double>(classes)) - 0.05;  // of the largest score of a row
    double highest = -1e308, total = 0;
    for (std::size_t i = 0; i < classes; ++i) {
        seen_element const it = row(i);
        if (it.kind == number_class::neg_inf) { continue; }
        if (it.kind >= number_class::pos_inf) { return truth::undecided; }
        if (it.value > 0) { return truth::no; }
        highest = it.value > highest ? it.value : highest;
    }
    for (std::size_t i = 0; highest >= least && i < classes; ++i) {
        seen_element const it = row(i);
        if (it.kind < number_class::pos_inf && it.value > -30) { total += exponential(it.value); }
    }
    return truth_of(magnitude(total - 1) < 0.05);
}

// Whether the columns of scores are logarithms of probabilities. Either a flag says so, or the first rows without NaN
// or infinity show it (four rows; one where there are 256 columns or more): no value is above 0, and the exponentials
// of each row sum to 1 within a twentieth, the tolerance that bf16 needs.
template <class = only_where_called>
[[nodiscard]] SPOTTER_STRICT constexpr bool are_log_probabilities(tensor_info const& tensor, tensor_ref const& values,
                                                                  int scores_axis) noexcept {
    SPOTTER_STRICT_BODY
    if (has(tensor.flags, flag::log_probabilities)) { return true; }
    if (scores_axis < 0 || !is_floating(values.type)) { return false; }
    auto const classes = static_cast<std::size_t>(values.shape.size[static_cast<std::size_t>(scores_axis)]);
    if (classes < 2) { return false; }
    std::size_t const enough = classes < 256 ? 4 : 1;
    std::size_t looked = 0;
    bool all = true;
    for_each_row(values, scores_axis, [&](auto const& row) {
        if (!all || looked == enough) { return; }
        truth const one = sums_to_one(row, classes);
        looked += decided(one) ? 1U : 0U;
        all = one != truth::no;
    });
    return all && looked > 0;
}

// How the classes of a tensor are read. The number is part of a feature's key.
enum class class_reading : std::uint8_t {
    by_type,    // scores if it is floating and has several columns, else a class in each element
    argmax,     // scores, whatever the type and rank
    of_labels,  // by type, but scores are classes only where each row names one
};

// The axis along which the largest score gives a sample's class; no_axis where each element is a class already. A
// floating tensor with several columns has scores (probabilities, logits, one-hot labels).
[[nodiscard]] constexpr int scores_along(tensor_info const& tensor, tensor_ref const& values, class_reading how,
                                         int class_axis) noexcept {
    int const axis = unit_axis_of(values.shape, class_axis, batch_axis_of(tensor.flags));
    if (axis < 0) { return no_axis; }
    bool const several = values.shape.rank >= 2 && values.shape.size[static_cast<std::size_t>(axis)] > 1;
    return how == class_reading::argmax || (several && is_floating(values.type)) ? axis : no_axis;
}

// The first of the largest finite scores of a row; -1 where none is finite.
template <class Row>
[[nodiscard]] SPOTTER_STRICT constexpr double best_of(Row const& row, std::size_t columns) noexcept {
    SPOTTER_STRICT_BODY
    double best = -1, highest = 0;
    for (std::size_t i = 0; i < columns; ++i) {
        seen_element const it = row(i);
        if (it.kind >= number_class::pos_inf || (best >= 0 && !(it.value > highest))) { continue; }
        best = static_cast<double>(i);
        highest = it.value;
    }
    return best;
}
// By how much the score of that class is above the next finite one, as a number of 14 bits that grows with it: the
// exponent of a float and six bits behind it, steps of 1.5 %. Only the order of scores counts, so their scale does not.
// 0: two scores are equal.
template <class Row>
[[nodiscard]] SPOTTER_STRICT constexpr std::uint32_t lead_of(Row const& row, std::size_t columns,
                                                             std::size_t best) noexcept {
    SPOTTER_STRICT_BODY
    constexpr double most = 0x1p127;  // also where no other score is finite
    double const highest = row(best).value;
    double least = most;
    for (std::size_t i = 0; i < columns; ++i) {
        seen_element const it = row(i);
        if (i == best || it.kind >= number_class::pos_inf) { continue; }
        double const lead = highest - it.value;
        least = lead < least ? lead : least;
    }
    return std::bit_cast<std::uint32_t>(static_cast<float>(least)) >> 17U;
}
// Whether a row of labels names a class. It does if it is a distribution (one-hot, smoothed or soft), or one 1 among
// elements of -1. Undecided where an element is not finite, all are 0 or -1 (a masked sample), and where all classes
// are equally likely.
template <class Row>
[[nodiscard]] SPOTTER_STRICT constexpr truth names_class(Row const& row, std::size_t columns) noexcept {
    SPOTTER_STRICT_BODY
    double highest = row(0).value, lowest = highest, total = 0;
    for (std::size_t i = 0; i < columns; ++i) {
        seen_element const it = row(i);
        if (it.kind >= number_class::pos_inf) { return truth::undecided; }
        total += it.value;
        highest = it.value > highest ? it.value : highest;
        lowest = it.value < lowest ? it.value : lowest;
    }
    bool const all_alike = lowest == highest;
    if (all_alike && (lowest == 0 || lowest == -1)) { return truth::undecided; }
    // Rounding of elements that sum to 1: bf16, the coarsest type of probabilities, has 2^-9.
    bool const is_distribution = lowest >= 0 && magnitude(total - 1) <= 0x1p-8;
    if (is_distribution && all_alike) { return truth::undecided; }
    return truth_of(is_distribution || (lowest == -1 && highest == 1 && total == 2 - static_cast<double>(columns)));
}

// Calls `use(class)` for every `stride`-th sample, in storage order. For scores the class is the first of the largest
// finite ones, or -1 in a row without any. Of labels a row that does not decide has no class, -1; false at the first
// row that names none: they are numbers.
template <class Use>
constexpr bool extract_classes(tensor_ref const& values, int scores_axis, class_reading how, std::uint64_t stride,
                               Use&& use) noexcept {
    if (scores_axis < 0) {
        visit_seen(values, [&](auto const& all) {
            for (std::size_t i = 0; i < all.size(); i += as_size(stride)) {
                seen_element const it = detail::see(all[i]);
                use(it.kind < number_class::pos_inf ? it.value : -1);
            }
        });
        return true;
    }
    auto const columns = static_cast<std::size_t>(values.shape.size[static_cast<std::size_t>(scores_axis)]);
    std::uint64_t next = 0;
    bool all = true;
    for_each_row(values, scores_axis, [&](auto const& row) {
        if (!all || next++ % stride != 0) { return; }
        truth const names = how == class_reading::of_labels ? names_class(row, columns) : truth::yes;
        all = names != truth::no;
        if (all) { use(names == truth::yes ? best_of(row, columns) : -1.0); }
    });
    return all;
}
// Pushes the class of each sample; nothing of labels that are numbers.
template <class = only_where_called>
constexpr void extract_classes(tensor_ref const& values, int scores_axis, class_reading how, feature& out) noexcept {
    std::size_t const before = out.size();
    if (!extract_classes(values, scores_axis, how, 1, [&](double const& each) { out.push(each); })) { out.cut(before); }
}

// The classes of a tensor as a feature: the number of samples, the stride n (every n-th sample is taken, from the first
// on), then the classes of those samples. Up to 1000 samples of up to 128 classes are all taken. Of more, fewer are
// taken, so that the feature needs less than 1 kB of a record. A stride of 0: labels that are numbers, without classes.
struct sampled_classes {
    static constexpr std::size_t most = 1000;              // samples
    static constexpr std::size_t most_bytes = 1000;        // encoded in a record
    static constexpr std::size_t most_leads = 64;          // samples, where each has its lead
    static constexpr std::uint32_t most_lead = 1U << 14U;  // every lead is below

    std::uint64_t samples = 0, stride = 1;  // samples of the tensor; every stride-th of them is taken
    std::span<double const> classes{};      // as numbers; most_classes stands for no class
    std::size_t width = 1;                  // numbers of a sample; 2: its class, then the lead of that (lead_of)
    bool numbers = false;                   // labels with a row that names no class; it has no samples then

    template <class = only_where_called>
    static constexpr void extract(tensor_ref const& values, int scores_axis, class_reading how, feature& out,
                                  std::size_t bytes = most_bytes) noexcept {
        std::uint64_t const columns = scores_axis < 0 ? 1 : values.shape.size[static_cast<std::size_t>(scores_axis)];
        std::uint64_t const samples = columns == 0 ? 0 : values.count / columns;
        std::uint64_t const stride = stride_of(samples);
        out.push(static_cast<double>(samples));
        std::size_t const place = out.size();
        out.push(static_cast<double>(stride));
        std::size_t taken = 0;
        bool const are_classes = extract_classes(values, scores_axis, how, stride, [&](double const& each) {
            std::uint32_t const which = class_of(each);
            taken += which < 128 ? 1 : which < 16384 ? 2 : 3;
            out.push(which == no_class ? most_classes : which);
        });
        if (!are_classes) {
            out.cut(place);
            return out.push(0);
        }
        if (taken <= bytes || !out.complete()) { return; }
        std::size_t const further = (taken + bytes - 1) / bytes + 1;  // the remaining ones may be the longer ones
        out.thin(place + 1, further);
        out[place] = static_cast<double>(stride * further);
    }
    // Scores of two columns or more, with the lead of each class. The samples are some of those that `extract` takes.
    template <class = only_where_called>
    static constexpr void extract_leads(tensor_ref const& values, int scores_axis, feature& out) noexcept {
        if (scores_axis < 0) { return; }
        auto const columns = static_cast<std::size_t>(values.shape.size[static_cast<std::size_t>(scores_axis)]);
        if (columns < 2 || values.count == 0) { return; }
        std::uint64_t const samples = values.count / columns, every = stride_of(samples);
        std::uint64_t const stride = every * (((samples + every - 1) / every + most_leads - 1) / most_leads);
        out.push(static_cast<double>(samples)), out.push(static_cast<double>(stride));
        std::uint64_t next = 0;
        for_each_row(values, scores_axis, [&](auto const& row) {
            if (next++ % stride != 0) { return; }
            double const best = best_of(row, columns);
            std::uint32_t const which = class_of(best);
            out.push(which == no_class ? most_classes : which);
            out.push(best < 0 ? 0 : lead_of(row, columns, static_cast<std::size_t>(best)));
        });
    }
    // Reads a recorded feature; empty where it is malformed.
    [[nodiscard]] static constexpr sampled_classes read(std::span<double const> made, std::size_t width = 1) noexcept {
        sampled_classes it;
        it.width = width;
        if (made.size() < 2 || !is_count(made[0]) || !is_count(made[1])) { return {}; }
        if (!(made[1] > 0)) {
            it.numbers = made.size() == 2;
            return it;
        }
        it.samples = static_cast<std::uint64_t>(made[0]);
        it.stride = static_cast<std::uint64_t>(made[1]);
        it.classes = made.subspan(2);
        return width * ((it.samples + it.stride - 1) / it.stride) == it.classes.size() ? it : sampled_classes{};
    }
    // Samples that were taken.
    [[nodiscard]] constexpr std::size_t taken() const noexcept { return classes.size() / width; }
    // The class of the i-th of them.
    [[nodiscard]] constexpr std::uint32_t which(std::size_t i) const noexcept { return class_of(classes[i * width]); }
    // Its lead; 0 without leads, and where a record is damaged.
    [[nodiscard]] constexpr std::uint32_t lead(std::size_t i) const noexcept {
        std::uint32_t const lead = width > 1 ? class_of(classes[i * width + 1]) : 0;
        return lead < most_lead ? lead : 0;
    }

private:
    [[nodiscard]] static constexpr std::uint64_t stride_of(std::uint64_t samples) noexcept {
        return samples <= most ? 1 : (samples + most - 1) / most;
    }
    [[nodiscard]] static constexpr bool is_count(double const& value) noexcept {
        return is_finite(value) && value >= 0 && value < 0x1p52 &&
               static_cast<double>(static_cast<std::uint64_t>(value)) == value;
    }
};

// Classes with the positions of their samples, in the order of observation. Allocates where a step has more than any
// step before.
class class_list {
public:
    struct entry {                       // one taken sample
        std::uint64_t place = 0;         // position among all samples of the step
        std::uint32_t which = no_class;  // its class, or no_class
        std::uint32_t lead = 0;          // of that class, where leads are taken
    };
    [[nodiscard]] constexpr bool reserve(std::uint64_t most) noexcept {
        return all_.grow(static_cast<std::size_t>(most < sampled_classes::most ? most : sampled_classes::most));
    }
    // Appends to the classes that are there.
    constexpr void add(sampled_classes const& it) noexcept {
        if (!all_.grow(count_ + it.taken())) {
            lacks_memory_ = true;
            return;
        }
        for (std::size_t i = 0; i < it.taken(); ++i) {
            all_[count_++] = {samples_ + i * it.stride, it.which(i), it.lead(i)};
        }
        samples_ += it.samples;
    }
    constexpr void clear() noexcept { count_ = 0, samples_ = 0; }
    // The taken samples of the step, by position.
    [[nodiscard]] constexpr std::span<entry const> all() const noexcept { return {all_.data(), count_}; }
    [[nodiscard]] constexpr std::uint64_t samples() const noexcept { return samples_; }  // of the step, taken or not
    // Some class was not added, at any time.
    [[nodiscard]] constexpr bool lacks_memory() const noexcept { return lacks_memory_; }

private:
    slot_array<entry> all_;
    std::size_t count_ = 0;
    std::uint64_t samples_ = 0;  // taken or not
    bool lacks_memory_ = false;  // some class was not added
};

// Which tensors are labels, and which predictions.
struct class_parts {
    // The role of a tensor for the rule.
    enum class part : std::uint8_t { none, label, prediction };
    struct entry {
        part as = part::none;
        bool numbers = false;  // it once had a row that names no class
    };
    per_tensor<entry> list;  // by tensor id

    [[nodiscard]] constexpr bool declare(tensor_info const& it, bool label, bool prediction) noexcept {
        if (list.declare(it) == nullptr) { return false; }
        list[it.id].as = label ? part::label : prediction ? part::prediction : part::none;
        return true;
    }
    // As declared.
    [[nodiscard]] constexpr bool is_label(tensor_info const& it) const noexcept {
        return list.find(it.id) != nullptr && list[it.id].as == part::label;
    }
    // As declared.
    [[nodiscard]] constexpr bool is_prediction(tensor_info const& it) const noexcept {
        return list.find(it.id) != nullptr && list[it.id].as == part::prediction;
    }
    [[nodiscard]] constexpr class_reading reading(tensor_info const& it, bool argmax) const noexcept {
        if (is_prediction(it)) { return argmax ? class_reading::argmax : class_reading::by_type; }
        bool const columns = is_label(it) && is_floating(it.type) && it.shape.rank >= 2;
        return columns ? class_reading::of_labels : class_reading::by_type;
    }
    // Whether this observation has classes; from the first without them on none has.
    [[nodiscard]] constexpr bool has_classes(tensor_info const& it, sampled_classes const& some) noexcept {
        if (list.find(it.id) == nullptr) { return false; }
        list[it.id].numbers = list[it.id].numbers || some.numbers;
        return !list[it.id].numbers;
    }
};

// The labels and predictions of one step, paired by position. Either may be observed first, and a step may have several
// batches. Predictions may be observed in two forms (logits, and the probabilities made from them): the first that has
// as many samples as the labels counts. Of large batches some samples are taken (sampled_classes), of labels and
// predictions at the same positions.
struct class_pairs {
    class_parts parts;                 // of the run
    class_list labels, predictions;    // of the step
    std::string_view tensor{};         // the first labels of the step
    std::uint64_t first_form = 0;      // number of predictions in the first such tensor of the step
    tensor_id first_said = no_tensor;  // that tensor
    bool leads = false;                // are taken, of predictions

    [[nodiscard]] constexpr bool declare(tensor_info const& it, bool label, bool prediction) noexcept {
        return parts.declare(it, label, prediction) && (label ? labels : predictions).reserve(it.shape.elements());
    }
    // The key of the feature "sampled classes". Rules with the same key share one extraction.
    [[nodiscard]] constexpr std::uint64_t key(tensor_info const& it, bool argmax, int class_axis) const noexcept {
        class_reading const how = parts.reading(it, argmax);
        bool const has_leads = leads && parts.is_prediction(it);
        return has_leads ? key_of("sampled leads", static_cast<int>(how), class_axis) : key(how, class_axis);
    }
    [[nodiscard]] static constexpr std::uint64_t key(class_reading how, int class_axis) noexcept {
        return key_of("sampled classes", static_cast<int>(how), class_axis);
    }
    constexpr void extract(observation const& it, tensor_ref const& values, bool argmax, int class_axis,
                           feature& out) const noexcept {
        if (it.step.mode == mode::predict) { return; }
        class_reading const how = parts.reading(it.tensor, argmax);
        int const axis = scores_along(it.tensor, values, how, class_axis);
        if (leads && parts.is_prediction(it.tensor)) { return sampled_classes::extract_leads(values, axis, out); }
        sampled_classes::extract(values, axis, how, out);
    }
    // Adds one feature of a label or prediction tensor; ignores other tensors.
    constexpr void add(tensor_info const& it, std::span<double const> classes) noexcept {
        sampled_classes const some = sampled_classes::read(classes, leads && parts.is_prediction(it) ? 2 : 1);
        if (!parts.has_classes(it, some)) { return; }
        if (parts.is_prediction(it)) {
            if (first_said == no_tensor) { first_said = it.id; }
            if (it.id == first_said && predictions.samples() == first_form) { first_form += some.samples; }
            predictions.add(some);
        }
        if (!parts.is_label(it)) { return; }
        labels.add(some);
        if (tensor.empty()) { tensor = it.name; }
    }
    // Calls `use(label, prediction)` for each pair of classes; for none where the numbers of labels and predictions
    // differ.
    template <class Use>
    constexpr void each(Use&& use) const noexcept {
        each_with_lead([&](std::uint32_t label, std::uint32_t said, std::uint32_t) { use(label, said); });
    }
    // Calls `use(label, prediction, lead)` for them.
    template <class Use>
    constexpr void each_with_lead(Use&& use) const noexcept {
        if (labels.samples() != predictions.samples() && labels.samples() != first_form) { return; }
        std::span<class_list::entry const> const given = labels.all(), said = predictions.all();
        for (std::size_t i = 0, k = 0; i < given.size() && k < said.size();) {
            if (given[i].place != said[k].place) {
                ++(given[i].place < said[k].place ? i : k);
                continue;
            }
            if (given[i].which != no_class && said[k].which != no_class) {
                use(given[i].which, said[k].which, said[k].lead);
            }
            ++i, ++k;
        }
    }
    // Whether labels or predictions lack memory.
    [[nodiscard]] constexpr bool lacks_memory() const noexcept {
        return labels.lacks_memory() || predictions.lacks_memory();
    }
    constexpr void clear() noexcept {
        labels.clear(), predictions.clear();
        tensor = {}, first_form = 0, first_said = no_tensor;
    }
};

// The first malformed of two patterns.
[[nodiscard]] constexpr pattern_fault malformed_of(selector const& labels, selector const& predictions) noexcept {
    return labels.malformed().empty() ? predictions.malformed() : labels.malformed();
}

// Shannon's entropy, in nats, of `count` samples, with the number of samples in each class.
[[nodiscard]] SPOTTER_STRICT constexpr double entropy_of(slot_array<std::uint64_t> const& by_class,
                                                         double count) noexcept {
    SPOTTER_STRICT_BODY
    double total = 0;
    for (std::uint64_t const each : by_class) {
        if (each == 0) { continue; }
        double const share = static_cast<double>(each) / count;
        double part = share * natural_log(share);
        force_rounding(part);
        total -= part;
    }
    return total;
}

}  // namespace spotter::inline SPOTTER_ABI
