// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a model that gives the same answer to every input. docs/rules.md#output_collapse
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/rule/builtin/classes.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/units.hpp>

namespace spotter::inline SPOTTER_ABI {

// The last classes of one kind, and the count of each. Allocates once, and again only for further classes.
class recent_classes {
public:
    // False where memory is exhausted.
    [[nodiscard]] constexpr bool keep(std::uint64_t most) noexcept {
        constexpr std::uint64_t limit = 1U << 20U;
        auto const room = as_size(most < 1 ? 1 : most > limit ? limit : most);
        if (!ring_.grow(room)) { return false; }
        most_ = room;
        return true;
    }
    // The oldest is dropped where there is no room; no_class is left out.
    constexpr void add(std::uint32_t which) noexcept {
        if (most_ == 0 || which == no_class) { return; }
        if (!counts_.grow(which + std::size_t{1})) {
            lacks_memory_ = true;
            return;
        }
        if (size_ == most_) {
            --counts_[ring_[next_]];
        } else {
            ++size_;
        }
        ring_[next_] = which;
        ++counts_[which];
        next_ = next_ + 1 == most_ ? 0 : next_ + 1;
        classes_ = which >= classes_ ? which + 1 : classes_;
    }
    // It holds as many as `keep` reserved.
    [[nodiscard]] constexpr bool full() const noexcept { return most_ > 0 && size_ == most_; }
    [[nodiscard]] constexpr std::uint32_t classes() const noexcept { return classes_; }  // the largest ever, plus one
    // The share of the most frequent class, whose number is written to `which`.
    [[nodiscard]] SPOTTER_STRICT constexpr double largest_share(std::size_t& which) const noexcept {
        SPOTTER_STRICT_BODY
        std::uint64_t most = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            if (counts_[i] > most) { most = counts_[i], which = i; }
        }
        return static_cast<double>(most) / static_cast<double>(size_);
    }
    // The entropy of the classes, in nats.
    [[nodiscard]] constexpr double entropy() const noexcept { return entropy_of(counts_, static_cast<double>(size_)); }
    [[nodiscard]] constexpr bool lacks_memory() const noexcept {
        return lacks_memory_;
    }  // a class was left out, at
       // any time

private:
    slot_array<std::uint32_t> ring_;
    slot_array<std::uint64_t> counts_;  // by class
    std::size_t most_ = 0, size_ = 0, next_ = 0;
    std::uint32_t classes_ = 0;
    bool lacks_memory_ = false;  // a class was not counted
};

// Warning, for `patience` closes in a row after `warmup` closes of the mode, in one of two cases.
// - Constant: the standard deviation of every output over the batch (at least 8 samples) is below `coefficient` times
//   the size of its mean. Log-probabilities are first centred on the mean of their row, which gives logits up to a
//   constant that softmax ignores.
// - One class: one class has at least `share` of the last `samples` predictions, though the entropy of as many labels
//   is above `min_label_entropy` times that of equally frequent classes.
// Without labels or without classes only the first is judged. Train and eval steps.
struct output_collapse {
    using kind = rule_kind;
    static constexpr std::string_view name = "output_collapse";
    static constexpr std::string_view remedy = "Check the output layer, its activation and what the loss expects.";
    static constexpr std::uint64_t least_batch = 8;  // samples needed for a standard deviation

    selector select = role::prediction;
    selector labels = role::label;   // compared with the predictions
    std::uint64_t warmup = 100;      // closes with predictions
    std::uint64_t patience = 3;      // closes
    double coefficient = 1e-3;       // of the size of the mean
    double share = 0.99;             // fraction of the predictions
    double min_label_entropy = 0.5;  // fraction of the logarithm of the number of classes
    std::uint64_t samples = 512;     // predictions, and labels
    bool argmax = false;             // predictions are scores, whatever their type and rank
    int class_axis = default_axis;   // of scores; 1 for rank >= 2 (batch first)

    struct history {                           // of one mode
        recent_classes predicted, labelled;    // the last `samples` of each
        std::uint64_t closes = 0, streak = 0;  // with predictions; collapsed ones in a row
        std::uint32_t outputs = 0;             // of the latest predictions with scores
    };
    struct state {
        class_parts parts;
        history by_mode[mode_count];
        streaks constant;
        close_answer answer;
        std::string_view tensor{};         // the first predictions of the step
        slot_array<double> mean, squares;  // scratch, by output
        slot_array<std::uint64_t> finite;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return labels(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        bool room = seen.parts.declare(tensor, !select(tensor), select(tensor)) && seen.constant.declare(tensor);
        for (history& each : seen.by_mode) {
            room = room && each.predicted.keep(samples) && each.labelled.keep(samples);
        }
        if (!room || !select(tensor)) { return room; }
        auto const outputs =
            as_size(unit_count(tensor.shape, unit_axis_of(tensor.shape, class_axis, batch_axis_of(tensor.flags))));
        return seen.mean.grow(outputs) && seen.squares.grow(outputs) && seen.finite.grow(outputs);
    }
    [[nodiscard]] constexpr std::uint64_t feature_key(state const& seen, tensor_info const& tensor) const noexcept {
        class_reading const how = seen.parts.reading(tensor, argmax);
        return key_of(name, 2, static_cast<int>(how), class_axis, seen.parts.is_prediction(tensor));
    }
    // Pushes the largest relative deviation of an output (-1: unknown) as two words of 32 bits, since whole numbers are
    // short in a record; the number of outputs (0: no scores); then the classes.
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        if (it.step.mode == mode::predict) { return; }
        bool const predicted = seen.parts.is_prediction(it.tensor);
        class_reading const how = seen.parts.reading(it.tensor, argmax);
        int const axis = scores_along(it.tensor, values, how, class_axis);
        bool const spread = predicted && is_floating(values.type);
        if (spread && !make_room(seen, values, axis)) { return out.give_up(); }
        auto const bits = std::bit_cast<std::uint64_t>(
            spread ? largest_deviation(seen, values, axis, are_log_probabilities(it.tensor, values, axis)) : -1.0);
        out.push(static_cast<double>(bits >> 32U));
        out.push(static_cast<double>(bits & 0xFFFFFFFFU));
        out.push(static_cast<double>(unit_count(values.shape, axis)));
        sampled_classes::extract(values, axis, how, out, sampled_classes::most_bytes - 16);
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        if (it.step.mode == mode::predict || made.size() < 3) { return; }
        double const deviation = deviation_of(made[0], made[1]);
        history& mine = seen.by_mode[index_of(it.step.mode)];
        bool const predicted = seen.parts.is_prediction(it.tensor);
        sampled_classes const some = sampled_classes::read(made.subspan(3));
        bool const classes = seen.parts.has_classes(it.tensor, some);
        for (double const& each : classes ? some.classes : std::span<double const>{}) {
            (predicted ? mine.predicted : mine.labelled).add(class_of(each));
        }
        if (!predicted) { return; }
        if (seen.tensor.empty()) { seen.tensor = it.tensor.name; }
        if (std::uint32_t const outputs = class_of(made[2]); outputs != no_class) { mine.outputs = outputs; }
        bool const known = mine.closes >= warmup && is_finite(deviation) && deviation >= 0;
        truth const constant = known ? truth_of(deviation < coefficient) : truth::undecided;
        seen.answer.judged = seen.answer.judged || known;
        if (seen.constant.count(it, constant) >= patience && constant == truth::yes) {
            seen.answer.found.blame(it, deviation);
        }
    }
    constexpr truth close(state& seen, step_id at, findings& out) const noexcept {
        seen.constant.next_close();
        violation constant;
        truth const answer = seen.answer.take(constant);
        std::string_view const tensor = std::exchange(seen.tensor, {});
        if (tensor.empty()) { return truth::undecided; }
        constant.tell(out, "outputs are constant", "largest relative deviation", relation::less, coefficient);
        finding found;
        history& mine = seen.by_mode[index_of(at.mode)];
        truth const one = mine.closes++ >= warmup ? one_class(mine, found) : truth::undecided;
        if (!decided(one)) { return answer; }
        mine.streak = one == truth::yes ? mine.streak + 1 : 0;
        if (mine.streak < patience || one == truth::no) { return answer == truth::yes ? answer : truth::no; }
        found.tensor = tensor;
        out.push(found);
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return malformed_of(select, labels); }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept {
        for (history const& each : seen.by_mode) {
            if (each.predicted.lacks_memory() || each.labelled.lacks_memory()) { return true; }
        }
        return false;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached, or batches of fewer than 8 and no classes with labels";
    }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr truth one_class(history const& mine, finding& found) const noexcept {
        SPOTTER_STRICT_BODY
        if (!mine.predicted.full() || !mine.labelled.full()) { return truth::undecided; }
        std::uint32_t classes = mine.outputs;
        if (classes < mine.predicted.classes()) { classes = mine.predicted.classes(); }
        if (classes < mine.labelled.classes()) { classes = mine.labelled.classes(); }
        if (classes < 2) { return truth::undecided; }
        std::size_t which = 0;
        found.reason = "one class is predicted";
        found.measure = "share of one class";
        found.measured = mine.predicted.largest_share(which);
        found.threshold = share;
        found.how = relation::greater_equal;
        found.detail << "class " << which;
        double const even = natural_log(static_cast<double>(classes));
        return truth_of(found.measured >= share && mine.labelled.entropy() > min_label_entropy * even);
    }
    // -1 where these are not words of 32 bits, as in a damaged record.
    [[nodiscard]] static constexpr double deviation_of(double const& upper, double const& lower) noexcept {
        std::uint64_t bits = 0;
        for (double const& each : {upper, lower}) {
            if (!is_finite(each) || !(each >= 0) || !(each < 0x1p32)) { return -1; }
            auto const word = static_cast<std::uint64_t>(each);
            if (static_cast<double>(word) != each) { return -1; }
            bits = bits << 32U | word;
        }
        return std::bit_cast<double>(bits);
    }
    // Without an axis of outputs all values belong to one output.
    [[nodiscard]] static constexpr std::size_t outputs_of(tensor_ref const& values, int axis) noexcept {
        return axis < 0 ? 1 : as_size(unit_count(values.shape, axis));
    }
    [[nodiscard]] static constexpr bool make_room(state& seen, tensor_ref const& values, int axis) noexcept {
        std::size_t const outputs = outputs_of(values, axis);
        return seen.mean.grow(outputs) && seen.squares.grow(outputs) && seen.finite.grow(outputs);
    }
    SPOTTER_STRICT static constexpr double largest_deviation(state& seen, tensor_ref const& values, int axis,
                                                             bool logarithms) noexcept {
        SPOTTER_STRICT_BODY
        std::size_t const outputs = outputs_of(values, axis);
        for (std::size_t i = 0; i < outputs; ++i) { seen.mean[i] = 0, seen.squares[i] = 0, seen.finite[i] = 0; }
        each_output(values, axis, logarithms, [&](std::size_t output, double x) SPOTTER_STRICT {
            SPOTTER_STRICT_BODY
            seen.mean[output] += x;
            ++seen.finite[output];
        });
        for (std::size_t i = 0; i < outputs; ++i) {
            seen.mean[i] /= static_cast<double>(seen.finite[i] > 0 ? seen.finite[i] : 1);
        }
        each_output(values, axis, logarithms, [&](std::size_t output, double x) SPOTTER_STRICT {
            SPOTTER_STRICT_BODY
            double const gap = x - seen.mean[output];
            double square = gap * gap;
            force_rounding(square);
            seen.squares[output] += square;
        });
        double largest = -1;
        for (std::size_t i = 0; i < outputs; ++i) {
            if (seen.finite[i] < least_batch) { continue; }
            double const deviation = square_root(seen.squares[i] / static_cast<double>(seen.finite[i]));
            double const relative = deviation / (magnitude(seen.mean[i]) + 1e-8);
            if (relative > largest) { largest = relative; }
        }
        return largest;
    }
    template <class Use>
    SPOTTER_STRICT static constexpr void each_output(tensor_ref const& values, int axis, bool logarithms,
                                                     Use&& use) noexcept {
        SPOTTER_STRICT_BODY
        if (logarithms && axis >= 0) {
            std::size_t const outputs = outputs_of(values, axis);
            return for_each_row(values, axis, [&](auto const& row) SPOTTER_STRICT {
                SPOTTER_STRICT_BODY
                double total = 0, finite = 0;
                for (std::size_t i = 0; i < outputs; ++i) {
                    if (seen_element const it = row(i); it.kind < number_class::pos_inf) {
                        total += it.value, ++finite;
                    }
                }
                double const centre = finite > 0 ? total / finite : 0;
                for (std::size_t i = 0; i < outputs; ++i) {
                    if (seen_element const it = row(i); it.kind < number_class::pos_inf) { use(i, it.value - centre); }
                }
            });
        }
        tensor_ref flat = values;
        if (axis < 0) { flat.shape = extents{1, values.count}, flat.layout = order::row_major; }
        for_each_unit(flat, axis < 0 ? 0 : axis, [&](std::size_t output, seen_element const& it) SPOTTER_STRICT {
            SPOTTER_STRICT_BODY
            if (it.kind < number_class::pos_inf) { use(output, it.value); }
        });
    }
};

}  // namespace spotter::inline SPOTTER_ABI
