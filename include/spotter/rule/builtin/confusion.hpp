// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): classes that a classifier confuses with each other. docs/rules.md#confusion
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/rule/builtin/classes.hpp>

namespace spotter::inline SPOTTER_ABI {

// Counts pairs of label and prediction over an eval phase. Of the samples predicted as one class, the correct ones must
// be at least `min_diag`, and those of any other class at most `max_off_diag`. A class that has labels but is never
// predicted counts as 0. Note, for the class with the smallest share if `min_diag` is missed, else for the pair with
// the largest. The text names a pair of classes, the measured one or else the most frequent, by its share of the
// label's samples. It names the reverse pair too where that is above `max_off_diag`. A phase is `phase_length` eval
// closes with labels and predictions (0: all until a close of another mode), and goes on until it has `samples` pairs.
// Eval steps only.
struct confusion {
    using kind = rule_kind;
    static constexpr std::string_view name = "confusion";
    static constexpr std::string_view remedy = "Inspect the samples behind the named pair of classes.";
    static constexpr mode judged_in = mode::eval;
    static constexpr std::uint32_t most_categories = 1024;  // 8 MiB of counts

    selector select = role::label;
    selector predictions = role::prediction;  // compared with the labels
    std::uint64_t category_no = 0;            // classes; 0: the largest seen, plus one. AWS Confusion
    double min_diag = 0.9;                    // fraction of a column; AWS
    double max_off_diag = 0.1;                // fraction of a column; AWS
    std::uint64_t samples = 1;                // pairs
    bool argmax = false;                      // predictions are scores, whatever their type and rank
    std::uint64_t phase_length = 1;           // eval closes; 0: until a close of another mode
    int class_axis = default_axis;            // of scores; 1 for rank >= 2 (batch first)

    [[nodiscard]] static constexpr confusion sagemaker_defaults() noexcept { return {}; }

    struct state {
        class_pairs step;
        // Pairs of the phase. Ordered by the larger of label and prediction, so that adding a class moves no count.
        slot_array<std::uint64_t> pairs;
        std::uint64_t total = 0, closes = 0;
        std::uint32_t classes = 0;
        std::string_view tensor{};
        bool lacks_memory = false;  // for pairs
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return predictions(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (!seen.step.declare(tensor, select(tensor), predictions(tensor))) { return false; }
        std::uint64_t const room = category_no > 0 ? category_no : 16;
        return room > most_categories || seen.pairs.grow(as_size(room * room));
    }
    [[nodiscard]] constexpr std::uint64_t feature_key(state const& seen, tensor_info const& tensor) const noexcept {
        return seen.step.key(tensor, argmax, class_axis);
    }
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        seen.step.extract(it, values, argmax, class_axis, out);
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> classes) const noexcept {
        if (it.step.mode == mode::eval) { seen.step.add(it.tensor, classes); }
    }
    constexpr truth close(state& seen, step_id at, findings& out) const noexcept {
        bool const here = at.mode == mode::eval && count_step(seen);
        seen.closes += here ? 1 : 0;
        bool const ends = phase_length > 0 ? here && seen.closes >= phase_length : at.mode != mode::eval;
        if (!ends || seen.total == 0 || seen.total < samples) { return truth::undecided; }
        truth const answer = judge(seen, out);
        for (std::uint64_t& each : seen.pairs) { each = 0; }
        seen.total = seen.closes = 0;
        seen.classes = 0;
        seen.tensor = {};
        return answer;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return malformed_of(select, predictions); }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept {
        return seen.lacks_memory || seen.step.lacks_memory();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "fewer than `samples` pairs of label and prediction that are class numbers (0 to 1023)";
    }

private:
    [[nodiscard]] static constexpr std::size_t place_of(std::size_t label, std::size_t said) noexcept {
        return label >= said ? label * label + said : said * said + said + 1 + label;
    }
    [[nodiscard]] static constexpr double pairs_of(state const& seen, std::size_t label, std::size_t said) noexcept {
        std::size_t const place = place_of(label, said);
        return seen.pairs.holds(place) ? static_cast<double>(seen.pairs[place]) : 0;
    }
    // Returns whether the step had a pair.
    [[nodiscard]] constexpr bool count_step(state& seen) const noexcept {
        std::uint64_t const before = seen.total;
        std::uint64_t const limit = category_no > 0 && category_no < most_categories ? category_no : most_categories;
        if (seen.tensor.empty()) { seen.tensor = seen.step.tensor; }
        seen.step.each([&](std::uint32_t label, std::uint32_t said) {
            std::uint32_t const larger = label > said ? label : said;
            std::size_t const room = (larger + std::size_t{1}) * (larger + std::size_t{1});
            if (larger >= limit) { return; }
            if (!seen.pairs.grow(room)) {
                seen.lacks_memory = true;
                return;
            }
            ++seen.pairs[place_of(label, said)];
            ++seen.total;
            seen.classes = larger >= seen.classes ? larger + 1 : seen.classes;
        });
        seen.step.clear();
        return seen.total > before;
    }
    struct confused_pair {
        std::size_t label = 0, said = 0;
    };
    // The share of this pair among the samples with its label.
    [[nodiscard]] SPOTTER_STRICT static constexpr double share_of_row(state const& seen, confused_pair it) noexcept {
        SPOTTER_STRICT_BODY
        double row = 0;
        for (std::size_t i = 0; i < seen.classes; ++i) { row += pairs_of(seen, it.label, i); }
        return row > 0 ? pairs_of(seen, it.label, it.said) / row : 0;
    }
    SPOTTER_STRICT constexpr void name_pair(state const& seen, confused_pair it, finding& into) const noexcept {
        SPOTTER_STRICT_BODY
        into.detail << it.label << " is predicted as " << it.said << ": " << share_of_row(seen, it) << " of "
                    << it.label << "'s";
        double const back = share_of_row(seen, {it.said, it.label});
        if (back > max_off_diag) {
            into.detail << "; " << it.said << " as " << it.label << ": " << back << " of " << it.said << "'s";
        }
    }
    // Of one prediction: the samples that have it, those of that class, and the most of another class.
    struct predicted {
        double column = 0, row = 0, other = 0;
        confused_pair pair;  // that of the most
    };
    [[nodiscard]] SPOTTER_STRICT static constexpr predicted count(state const& seen, std::size_t said) noexcept {
        SPOTTER_STRICT_BODY
        predicted it;
        it.pair.said = said;
        for (std::size_t i = 0; i < seen.classes; ++i) {
            double const here = pairs_of(seen, i, said);
            it.column += here;
            it.row += pairs_of(seen, said, i);
            if (i != said && here > it.other) { it.other = here, it.pair.label = i; }
        }
        return it;
    }
    // What is worst of all predictions. Shares are of a column: of the diagonal, of any other.
    struct worst {
        double least = 1, most = 0, samples_mixed = 0;
        std::size_t poorest = 0;
        confused_pair largest, most_frequent;
        bool missed = false;
    };
    SPOTTER_STRICT constexpr void add(state const& seen, predicted const& it, worst& all) const noexcept {
        SPOTTER_STRICT_BODY
        std::size_t const said = it.pair.said;
        if (it.other > all.samples_mixed) { all.samples_mixed = it.other, all.most_frequent = it.pair; }
        if (!(it.column > 0) && !(it.row > 0)) { return; }
        double const right = it.column > 0 ? pairs_of(seen, said, said) / it.column : 0;
        if (right < min_diag && (!all.missed || right < all.least)) {
            all.missed = true, all.least = right, all.poorest = said;
        }
        if (it.column > 0 && it.other / it.column > all.most) {
            all.most = it.other / it.column, all.largest = it.pair;
        }
    }
    [[nodiscard]] constexpr truth judge(state const& seen, findings& out) const noexcept {
        worst all;
        for (std::size_t said = 0; said < seen.classes; ++said) { add(seen, count(seen, said), all); }
        if (!all.missed && !(all.most > max_off_diag)) { return truth::no; }
        finding found;
        found.tensor = seen.tensor;
        found.severity = severity::info;
        found.reason = "a class is taken for another";
        found.measure = "share of a prediction that is another class";
        found.measured = all.most, found.threshold = max_off_diag, found.how = relation::greater;
        if (all.missed) {
            found.reason = "a class is predicted wrongly";
            found.measure = "share of a prediction that is right";
            found.measured = all.least, found.threshold = min_diag, found.how = relation::less;
            found.detail << "prediction " << all.poorest << (all.most > 0 ? "; " : "");
        }
        if (all.most > 0) { name_pair(seen, all.missed ? all.most_frequent : all.largest, found); }
        out.push(found);
        return truth::yes;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
