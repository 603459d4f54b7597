// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): classes that are far rarer than others, that the model mispredicts, or that come one at a time.
// docs/rules.md#class_imbalance
#pragma once

#include <spotter/rule/builtin/classes.hpp>

namespace spotter::inline SPOTTER_ABI {

// Counts the labels of each class over the run, in each mode (train and eval). Judges at each close with labels, once
// there are `samples`. Warning when the largest class has more than `threshold_imbalance` times the samples of the
// smallest. Warning also when more than `threshold_misprediction` of a class are predicted as another class, in each
// of the last `patience` windows of `samples` pairs. A window counts only if the model is right in `min_accuracy` of
// it, because an untrained model mispredicts every class. Windows end at a close and do not overlap; the finding
// holds until the next window is full. Warning also when four of five training batches have labels of one class, once
// there are 50: their data are not shuffled. They have four rows of labels or more. Three classes have three such
// batches or more. Where it says no it
// testifies, to a diagnosis, whether all labels of training are of one class though the model has predicted another.
// Labels and predictions of a step are paired by position; see classes.hpp.
struct class_imbalance {
    using kind = rule_kind;
    static constexpr std::string_view name = "class_imbalance";
    // one_dominates: more than half of all labels are of the largest class; imbalanced: they are not, as in a language.
    // Testimony, which is no finding: whether all labels of training are of one class.
    enum condition : std::uint8_t {
        one_dominates = 1,
        imbalanced,
        mispredicted_class,
        unmixed_batches,
        one_class,
        several_classes
    };
    static constexpr std::string_view remedy = "Resample or weight the rare classes, and judge by per-class metrics.";

    selector select = role::label;
    selector predictions = role::prediction;  // read for mispredictions only
    double threshold_imbalance = 10;          // largest over smallest class; AWS ClassImbalance
    double threshold_misprediction = 0.7;     // fraction of a class; AWS
    std::uint64_t samples = 500;              // labels before it judges, and pairs of a window; AWS
    std::uint64_t num_classes = 0;            // 0: the classes that occurred
    bool argmax = false;                      // predictions are scores, whatever their type and rank
    double min_accuracy = 0.5;                // fraction of a window's pairs; AWS has no such limit
    std::uint64_t patience = 10;              // windows of `samples` pairs in a row; the preset: 1
    std::uint64_t min_class_samples = 20;     // pairs of a class in a window before its mispredictions count
    int class_axis = default_axis;            // of scores; 1 for rank >= 2 (batch first)

    [[nodiscard]] static constexpr class_imbalance sagemaker_defaults() noexcept {
        return {.min_accuracy = 0, .patience = 1, .min_class_samples = 1};
    }

    struct tally {  // of one class, or of all
        // labels: of the run; paired: pairs of the window; wrong: those that are mispredicted.
        std::uint64_t labels = 0, paired = 0, wrong = 0;
        std::uint64_t batches = 0;  // of the run: those with four labels or more, of this class alone; of all: any such
    };
    struct counts {                  // of one mode
        slot_array<tally> by_class;  // room for 16 at first; grows to the largest label
        tally all{};                 // their sums
        bool others = false;         // once a class was predicted that was not the label
        bool unknown = false;        // once a label was no class, such as -1 of two
        std::uint64_t streak = 0;    // windows in a row with a mispredicted class
        finding missed{};            // of the last such window
    };
    struct state {
        class_pairs step;
        counts by_mode[mode_count];
        bool lacks_memory = false;  // for a class
        std::uint64_t rows = 0;     // of labels, in this step
        condition testified = several_classes;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return predictions(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        bool room = seen.step.declare(tensor, select(tensor), predictions(tensor));
        for (counts& each : seen.by_mode) { room = each.by_class.grow(first_classes) && room; }
        return room;
    }
    [[nodiscard]] constexpr std::uint64_t feature_key(state const& seen, tensor_info const& tensor) const noexcept {
        return seen.step.key(tensor, argmax, class_axis);
    }
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        seen.step.extract(it, values, argmax, class_axis, out);
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> classes) const noexcept {
        if (it.step.mode == mode::predict) { return; }
        seen.step.add(it.tensor, classes);
        extents const& shape = it.tensor.shape;
        if (select(it.tensor)) { seen.rows += shape.rank == 1 ? shape.size[0] : samples_of(shape, it.tensor.flags); }
    }
    constexpr truth close(state& seen, step_id at, findings& out) const noexcept {
        bool const any_label = !seen.step.labels.all().empty();
        std::string_view const tensor = seen.step.tensor;
        counts& mine = seen.by_mode[index_of(at.mode)];
        seen.lacks_memory = !count(mine, seen.step, std::exchange(seen.rows, 0) >= 4) || seen.lacks_memory;
        seen.step.clear();
        if (!any_label || mine.all.labels == 0 || mine.all.labels < samples) { return truth::undecided; }
        finding found;
        found.tensor = tensor;
        truth answer = truth::no;
        if (unbalanced(mine, found)) {
            out.push(found);
            answer = truth::yes;
        }
        if (mine.all.paired > 0 && mine.all.paired >= samples) {
            mine.missed = {};
            mine.missed.tensor = tensor;
            mine.streak = mispredicted(mine, mine.missed) ? mine.streak + 1 : 0;
            for (std::size_t i = 0; i < mine.by_class.size(); ++i) {
                mine.by_class[i].paired = mine.by_class[i].wrong = 0;
            }
            mine.all.paired = mine.all.wrong = 0;
        }
        if (mine.streak > 0 && mine.streak >= patience) {
            out.push(mine.missed);
            answer = truth::yes;
        }
        if (finding of_batches; at.mode == mode::train && unmixed(mine, of_batches)) {
            of_batches.tensor = tensor;
            out.push(of_batches);
            answer = truth::yes;
        }
        if (answer == truth::no && at.mode == mode::train) { testify(mine, tensor, seen.testified, out); }
        return answer;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return malformed_of(select, predictions); }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept {
        return seen.lacks_memory || seen.step.lacks_memory();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `samples` labels that are class numbers (0 to 65535)";
    }

private:
    static constexpr std::size_t first_classes = 16;  // have room from the beginning

    // False where memory is exhausted; the labels of a class without memory are left out. `is_batch`: there are four
    // rows of labels or more.
    [[nodiscard]] static constexpr bool count(counts& mine, class_pairs const& step, bool is_batch) noexcept {
        bool room = true;
        std::span<class_list::entry const> const labels = step.labels.all();
        bool is_pure = is_batch && labels.size() >= 4;
        mine.all.batches += is_pure ? 1U : 0U;
        for (class_list::entry const& each : labels) {
            std::uint32_t const label = each.which;
            is_pure = is_pure && label == labels[0].which;
            if (label == no_class) {
                mine.unknown = true;
                continue;
            }
            if (!mine.by_class.grow(label + std::size_t{1})) {
                room = false;
                continue;
            }
            ++mine.by_class[label].labels;
            ++mine.all.labels;
        }
        if (is_pure && mine.by_class.holds(labels[0].which)) { ++mine.by_class[labels[0].which].batches; }
        step.each([&](std::uint32_t label, std::uint32_t said) {
            if (!mine.by_class.holds(label)) { return; }
            ++mine.by_class[label].paired;
            ++mine.all.paired;
            mine.by_class[label].wrong += label != said ? 1 : 0;
            mine.all.wrong += label != said ? 1 : 0;
            mine.others = mine.others || label != said;
        });
        return room;
    }
    // Pushes whether all labels are of one class, though the model has predicted another, where that has changed.
    static constexpr void testify(counts const& mine, std::string_view tensor, condition& testified,
                                  findings& out) noexcept {
        std::uint64_t most = 0;
        for (std::size_t i = 0; i < mine.by_class.size(); ++i) {
            most = mine.by_class[i].labels > most ? mine.by_class[i].labels : most;
        }
        bool const lone = most == mine.all.labels && mine.others && !mine.unknown;
        condition const now = lone ? one_class : several_classes;
        if (std::exchange(testified, now) == now) { return; }
        violation const who{tensor, static_cast<double>(mine.all.labels - most), 1};
        out.push(who.as_finding({lone ? "all labels are of one class" : "labels are of several classes", now},
                                "labels of other classes", lone ? relation::less_equal : relation::greater_equal, 0));
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool unbalanced(counts const& mine, finding& found) const noexcept {
        SPOTTER_STRICT_BODY
        std::size_t largest = 0, smallest = 0;
        std::uint64_t most = 0, least = ~std::uint64_t{0};
        for (std::size_t i = 0; i < mine.by_class.size(); ++i) {
            std::uint64_t const have = mine.by_class[i].labels;
            if (have == 0 && i >= num_classes) { continue; }
            if (have > most) { most = have, largest = i; }
            if (have < least) { least = have, smallest = i; }
        }
        if (least > 0 && mine.by_class.size() < num_classes) { least = 0, smallest = mine.by_class.size(); }
        found.severity = severity::warning;
        found.condition = 2 * most > mine.all.labels ? one_dominates : imbalanced;
        if (least == 0) {  // a ratio without bound
            found.reason = "a class has no sample";
            found.measure = "samples of the smallest class";
            found.measured = 0;
            found.threshold = 0;
            found.how = relation::less_equal;
            found.detail << "class " << smallest << ": none of " << mine.all.labels << " samples";
            return true;
        }
        found.reason = "classes are imbalanced";
        found.measure = "largest over smallest class";
        found.measured = static_cast<double>(most) / static_cast<double>(least);
        found.threshold = threshold_imbalance;
        found.how = relation::greater;
        found.detail << "class " << largest << ": " << most << " samples, class " << smallest << ": " << least;
        return found.measured > threshold_imbalance;
    }
    // Shuffled batches are seldom of one class, unless that has most labels. A GAN's are of two: real and generated.
    [[nodiscard]] static constexpr bool unmixed(counts const& mine, finding& found) noexcept {
        std::uint64_t pure = 0, classes = 0;
        for (std::size_t i = 0; i < mine.by_class.size(); ++i) {
            pure += mine.by_class[i].batches;
            classes += mine.by_class[i].batches >= 3 ? 1U : 0U;
        }
        if (mine.all.batches < 50 || classes < 3) { return false; }
        found.severity = severity::warning;
        found.condition = unmixed_batches;
        found.reason = "a batch has labels of one class";
        found.measure = "share of such batches";
        found.measured = static_cast<double>(pure) / static_cast<double>(mine.all.batches);
        found.threshold = 0.8;
        found.how = relation::greater_equal;
        found.remedy = "Shuffle the training data, and check that a batch holds different samples.";
        return found.measured >= found.threshold;
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool mispredicted(counts const& mine, finding& found) const noexcept {
        SPOTTER_STRICT_BODY
        if (mine.all.paired == 0) { return false; }
        double const right = static_cast<double>(mine.all.paired - mine.all.wrong);
        if (!(right / static_cast<double>(mine.all.paired) >= min_accuracy)) { return false; }
        double worst = 0;
        std::size_t which = 0;
        for (std::size_t i = 0; i < mine.by_class.size(); ++i) {
            tally const& it = mine.by_class[i];
            if (it.paired == 0 || it.paired < min_class_samples) { continue; }
            double const share = static_cast<double>(it.wrong) / static_cast<double>(it.paired);
            if (share > worst) { worst = share, which = i; }
        }
        found.reason = "a class is mispredicted";
        found.condition = mispredicted_class;
        found.measure = "mispredicted share of a class";
        found.measured = worst;
        found.threshold = threshold_misprediction;
        found.how = relation::greater;
        found.severity = severity::warning;
        if (!(worst > threshold_misprediction)) { return false; }
        tally const& it = mine.by_class[which];
        found.detail << "class " << which << ": " << it.wrong << " of " << it.paired;
        return true;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
