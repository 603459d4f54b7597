// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): labels that contradict the surest predictions. docs/rules.md#label_noise
#pragma once

#include <spotter/rule/builtin/classes.hpp>

namespace spotter::inline SPOTTER_ABI {

// Judges windows of `samples` pairs of label and prediction in training. A prediction is as sure as its highest score
// is above the second. The surest quarter of a window are the pairs from the quarter's limit up, all ties included.
// Where a task is hard, mistakes are among unsure predictions. Where labels are random, they contradict sure ones, too.
// (Confident learning, Northcutt et al. 2021, counts such contradictions.) Let e be the share of mistakes, g that of
// always naming the window's most frequent label, and s = 1 - e/g the skill. In a hard task, modelled as signals in
// normal noise (Green and Swets 1966), the surest quarter has at most (1 - s) e, for 2 to 100 classes. The limit is
// that, and `least`. A window counts if the surest quarter is above the limit by two of its standard errors, and the
// skill is at least `skill`, two standard errors taken off: a net that knows a quarter of its samples and guesses the
// others makes no mistake in the surest quarter. Warning after `patience` such windows in a row, and from then on: a
// net that memorises its labels does not make them right. Not in evaluation: an overfitted net is as sure where it is
// wrong. Windows with ties in more than half decide nothing. Steps with more labels than samples of input are left out:
// tokens of a text are drawn, not assigned, and the labels of one picture depend on each other.
struct label_noise {
    using kind = rule_kind;
    static constexpr std::string_view name = "label_noise";
    static constexpr std::string_view remedy = "Look at samples that are predicted surely and labelled otherwise: some "
                                               "labels may be wrong, shuffled, or names of one class.";
    static constexpr mode judged_in = mode::train;

    selector select = role::label;
    selector predictions = role::prediction;  // scores of two classes or more
    std::uint64_t samples = 1000;             // pairs of a window
    std::uint64_t patience = 3;               // windows in a row
    double least = 0.2;             // share of mistakes; sets of real data have 0.08 to 0.385, Song et al. 2022
    double skill = 0.25;            // the least skill of a net whose sure predictions count
    bool argmax = false;            // predictions are scores, whatever their type and rank
    int class_axis = default_axis;  // of scores; 1 for rank >= 2 (batch first)

    struct state {
        class_pairs step;
        slot_array<std::uint16_t> pairs;         // of the window: twice the lead, plus 1 for a mistake
        slot_array<std::uint64_t> labels;        // of the window, by class
        std::size_t count = 0;                   // pairs
        std::uint64_t in_a_row = 0;              // windows
        std::uint64_t labelled = 0, inputs = 0;  // of the step: the most labels, and samples, of a tensor
        bool judged = false, lacks_memory = false;
        finding found{};  // from the window on that made it `patience` windows
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return predictions(tensor) || tensor.role == role::input ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        seen.step.leads = true;
        bool const room = seen.pairs.grow(as_size(samples)) && seen.labels.grow(16);
        return seen.step.declare(tensor, select(tensor), predictions(tensor)) && room;
    }
    [[nodiscard]] constexpr std::uint64_t feature_key(state const& seen, tensor_info const& tensor) const noexcept {
        return is_input(tensor) ? key_of("samples") : seen.step.key(tensor, argmax, class_axis);
    }
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        if (!is_input(it.tensor)) { return seen.step.extract(it, values, argmax, class_axis, out); }
        if (values.shape.rank < 2) { return; }  // a single sample, or one number of each
        out.push(static_cast<double>(samples_of(values.shape, it.tensor.flags)));
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        if (it.step.mode != judged_in) { return; }
        if (is_input(it.tensor)) {
            std::uint64_t const rows =
                !made.empty() && made[0] >= 0 && made[0] < 0x1p52 ? static_cast<std::uint64_t>(made[0]) : 0;
            seen.inputs = rows > seen.inputs ? rows : seen.inputs;
            return;
        }
        std::uint64_t const labels = select(it.tensor) ? sampled_classes::read(made).samples : 0;
        seen.labelled = labels > seen.labelled ? labels : seen.labelled;
        seen.step.add(it.tensor, made);
    }
    constexpr truth close(state& seen, step_id at, findings& out) const noexcept {
        if (at.mode != judged_in) { return truth::undecided; }
        std::string_view const tensor = seen.step.tensor;
        bool const several = seen.inputs > 0 && seen.labelled > seen.inputs;  // labels of a sample
        seen.labelled = seen.inputs = 0;
        if (several) { seen.step.clear(); }
        seen.step.each_with_lead([&](std::uint32_t label, std::uint32_t said, std::uint32_t lead) {
            if (seen.count == samples) { return; }  // pairs of this step that are more than the window takes
            if (!seen.labels.grow(label + std::size_t{1})) {
                seen.lacks_memory = true;
                return;
            }
            ++seen.labels[label];
            seen.pairs[seen.count++] = static_cast<std::uint16_t>(2 * lead + (label != said ? 1 : 0));
        });
        seen.step.clear();
        bool const is_full = seen.count == samples && samples > 0;
        if (is_full && seen.found.reason.empty()) { judge(seen, tensor); }
        if (is_full) { start_window(seen); }
        if (!seen.found.reason.empty()) {
            out.push(seen.found);
            return truth::yes;
        }
        return seen.judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return malformed_of(select, predictions); }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept {
        return seen.lacks_memory || seen.step.lacks_memory();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "fewer than `samples` pairs of a class label and scores of two classes or more, or most scores are "
               "equally sure, or a sample has several labels";
    }

private:
    [[nodiscard]] constexpr bool is_input(tensor_info const& it) const noexcept {
        return it.role == role::input && !select(it) && !predictions(it);
    }
    // Pairs at least as sure as a limit, and the mistakes among them.
    struct tally {
        std::size_t pairs = 0, wrong = 0;
    };
    [[nodiscard]] static constexpr tally count_from(state const& seen, std::uint32_t limit) noexcept {
        tally all;
        for (std::size_t i = 0; i < seen.count; ++i) {
            std::uint32_t const it = seen.pairs[i];
            if (it / 2 < limit) { continue; }
            ++all.pairs, all.wrong += it & 1U;
        }
        return all;
    }
    // The fewest surest pairs that are a quarter or more, with all ties.
    [[nodiscard]] static constexpr tally surest(state const& seen) noexcept {
        std::uint32_t limit = 0;
        for (std::uint32_t bit = 1U << 13U; bit > 0; bit /= 2) {  // a lead has 14 bits
            if (4 * count_from(seen, limit | bit).pairs >= seen.count) { limit |= bit; }
        }
        return count_from(seen, limit);
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double standard_error(double share, double count) noexcept {
        SPOTTER_STRICT_BODY
        return square_root(share * (1 - share) / count);
    }
    SPOTTER_STRICT constexpr void judge(state& seen, std::string_view tensor) const noexcept {
        SPOTTER_STRICT_BODY
        tally const all = count_from(seen, 0), sure = surest(seen);
        if (2 * sure.pairs > all.pairs) { return; }
        std::uint64_t most = 0;
        for (std::uint64_t const each : seen.labels) { most = each > most ? each : most; }
        double const count = static_cast<double>(all.pairs), sure_count = static_cast<double>(sure.pairs);
        double const mistakes = static_cast<double>(all.wrong) / count;
        double const of_constant = 1 - static_cast<double>(most) / count;  // mistakes of naming that label
        double const of_sure = static_cast<double>(sure.wrong) / sure_count;
        double const of_hard = of_constant > 0 ? mistakes * mistakes / of_constant : 1;  // (1 - s) e
        double const limit = of_hard > least ? of_hard : least;
        bool const has_learned = mistakes + 2 * standard_error(mistakes, count) <= (1 - skill) * of_constant;
        bool const contradict = of_sure - 2 * standard_error(of_sure, sure_count) > limit;
        seen.judged = true;
        seen.in_a_row = has_learned && contradict ? seen.in_a_row + 1 : 0;
        if (seen.in_a_row == 0 || seen.in_a_row < patience) { return; }
        violation const who{tensor, of_sure, 1};
        seen.found = who.as_finding("labels contradict the surest predictions",
                                    "share of mistakes in the surest quarter", relation::greater, limit);
        seen.found.detail << "of all predictions " << mistakes
                          << " are mistakes; always naming the most frequent label "
                          << "would make " << of_constant;
    }
    static constexpr void start_window(state& seen) noexcept {
        seen.count = 0;
        for (std::uint64_t& each : seen.labels) { each = 0; }
    }
};

}  // namespace spotter::inline SPOTTER_ABI
