// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): regression outputs that are unrelated to their targets. docs/rules.md#unrelated_predictions
#pragma once

#include <spotter/rule/builtin/classes.hpp>
#include <spotter/rule/builtin/sampled_values.hpp>
#include <spotter/stat/statistic.hpp>
#include <spotter/stat/unit_axis.hpp>

namespace spotter::inline SPOTTER_ABI {

// Judges windows of `samples` pairs of target and prediction, for each mode (train and eval), from the `warmup`-th
// train close and the `warmup_samples`-th training sample on: all pixels of a picture are one sample, from which a net
// learns once. A column is what one output of the net is compared with; a column's means would make a correlation of
// their own. So the correlation is that within columns: both sides are taken from their mean in the column, in standard
// deviations of its targets, predictions in their own where these are larger. A column with n pairs whose targets vary
// has n - 1 degrees of freedom. Predictions are unrelated to their targets where the correlation is at most two of its
// standard errors, 1/sqrt(degrees of freedom of all columns), above zero; units and offsets do not matter. Warning
// after `patience` such windows in a row, until one is better. Targets are not class numbers: in at least half of a
// window's pairs a number is not whole, and targets are of floating point with at least three different values, or have
// two different values, as those of a mask or a set of tags have. Two values in one column are two classes, beside a
// score or a probability. They are judged where the rarer one has `least_share`, and warned of after `long_patience`
// windows: a score of the other class is opposed and no less right. Two unrelated windows of evaluation in a row are
// enough, and need no `warmup_samples`, where the correlation is `apart` standard errors below that of training: what
// is learned does not carry over. A step with a non-finite value is skipped. Targets and predictions of a step are
// paired where they have equally many elements, 64 pairs at most, in evaluation 120.
struct unrelated_predictions {
    using kind = rule_kind;
    static constexpr std::string_view name = "unrelated_predictions";
    static constexpr std::string_view remedy = "Check that targets belong to their inputs, that the loss has the right "
                                               "sign, and that the output is read as it is trained.";

    // How they are unrelated.
    enum condition : std::uint8_t {
        unrelated = 1,
        opposed,             // they have learned the opposite
        long_unrelated,      // unrelated for `long_patience` windows
        in_evaluation_alone  // related in training
    };

    selector select = role::label;
    selector predictions = role::prediction;  // floating-point tensors only
    std::uint64_t samples = 500;              // pairs of a window, all but the first of each column
    std::uint64_t warmup = 150;               // train closes
    std::uint64_t warmup_samples = 5000;      // training samples
    std::uint64_t patience = 3;               // windows
    std::uint64_t long_patience = 20;  // windows in a row: a correlation of 0.04 leads to so many in 1 of 20 cases
    double least_share = 0.2;          // of the rarer of two classes among the pairs of a window
    double apart = 3;                  // standard errors between training and evaluation

    // Pairs of a step. A record takes 1 kB of a step at most; evaluations are seldom.
    static constexpr std::size_t most_pairs = 120;
    [[nodiscard]] static constexpr std::size_t pairs_in(mode when) noexcept {
        return when == mode::eval ? most_pairs : sampled_values::most;
    }

    // The pairs of one column in a window: their means, and co-moments about these (Welford 1962).
    struct column {
        std::uint64_t id = 0, pairs = 0;                            // id: which element of a sample
        double mean_target = 0, mean_said = 0;                      // of its pairs
        double squares_target = 0, squares_said = 0, products = 0;  // sums about these means

        // Whether the target has varied by now.
        [[nodiscard]] SPOTTER_STRICT constexpr bool add(double target, double said) noexcept {
            SPOTTER_STRICT_BODY
            double const count = static_cast<double>(++pairs);
            double const from_target = target - mean_target, from_said = said - mean_said;
            mean_target += from_target / count;
            mean_said += from_said / count;
            double a = from_target * (target - mean_target), b = from_said * (said - mean_said);
            double c = from_target * (said - mean_said);
            force_rounding(a), force_rounding(b), force_rounding(c);
            squares_target += a, squares_said += b, products += c;
            return squares_target > 0;
        }
    };
    static constexpr std::size_t most_columns = most_pairs;  // a step has no more

    struct window {  // of one mode
        slot_array<column> columns;
        std::size_t count = 0, oldest = 0;  // of the columns; where all have a pair, the next to make room
        // `fractions`: pairs with a number that is not whole; `bad`, `opposed`: unrelated windows in a row, and opposed
        std::uint64_t pairs = 0, fractions = 0, bad = 0, opposed = 0;
        double freedom = 0, squares = 0, products = 0;  // of the columns that made room; in units of their targets
        double measured = 0, error = 0;                 // correlation, its standard error; of the last full window
        std::uint64_t in_a_row = 0;                     // unrelated windows, before `warmup_samples` too
        bool in_evaluation_alone = false;               // two of them, and training is better
        bool judged = false;                            // at least one window was full
        bool two_classes = false;                       // the last full window had two values in one column

        // Adds the column to the sums. Predictions that vary more than their targets are taken in their own deviations:
        // a column of targets that hardly vary would outweigh all others.
        SPOTTER_STRICT constexpr void take(column const& it) noexcept {
            SPOTTER_STRICT_BODY
            if (!(it.squares_target > 0)) { return; }
            double const free = static_cast<double>(it.pairs - 1);
            bool const varies_more = it.squares_said > it.squares_target;
            double const unit =
                (varies_more ? square_root(it.squares_target) * square_root(it.squares_said) : it.squares_target) /
                free;
            freedom += free;
            squares += varies_more ? free : it.squares_said / unit;
            products += it.products / unit;
        }
        // `guess`: where it probably is.
        [[nodiscard]] constexpr column& at(std::uint64_t id, std::size_t guess) noexcept {
            if (guess < count && columns[guess].id == id) { return columns[guess]; }
            for (std::size_t i = 0; i < count; ++i) {
                if (columns[i].id == id) { return columns[i]; }
            }
            std::size_t const place = count < most_columns ? count++ : oldest++ % most_columns;
            take(columns[place]);
            columns[place] = {.id = id};
            return columns[place];
        }
        // Begins a new window; memory is kept.
        constexpr void clear() noexcept {
            for (std::size_t i = 0; i < count; ++i) { columns[i] = {}; }
            count = oldest = 0, pairs = fractions = 0;
            freedom = squares = products = 0;
        }
    };
    // The first targets, or the first predictions, of a step.
    struct side {
        std::uint64_t count = 0;               // elements; 0: not observed
        std::uint64_t samples = 1, inner = 1;  // along the batch axis; from one to the next
        std::string_view tensor{};             // the tensor; empty: none in this step
        bool is_floating = false;              // its type
        double values[most_pairs]{};           // the elements that are paired
        std::size_t paired = 0;                // of the values

        // A batch of several samples with several elements each.
        [[nodiscard]] constexpr bool has_columns() const noexcept { return samples > 1 && count > samples; }
        // Which element of a sample the i-th is.
        [[nodiscard]] constexpr std::uint64_t column_of(std::size_t i) const noexcept {
            std::uint64_t const at = sampled_values::place(i, as_size(count), paired);
            return at / (samples * inner) * inner + at % inner;
        }
    };
    struct state {
        side target, said;
        window by_mode[mode_count];
        std::uint64_t train_closes = 0, train_samples = 0;
        std::uint64_t whole_targets = 0,
                      fewest_said = 0;  // elements of whole-number targets, of the smallest prediction
        bool has_target = false, any_close = false;
        double different[2]{};  // the first different targets
        std::uint32_t differ = 0;
    };

    // What targets and predictions need.
    static constexpr stats_mask watched = stats_mask::feature | stats_mask::nonfinite;
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        if (!select(tensor) || is_complex(tensor.type)) { return stats_mask::none; }
        return is_floating(tensor.type) ? watched : stats_mask::feature;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return predictions(tensor) && is_floating(tensor.type) ? watched : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        // Whole numbers beside scores in columns are class numbers, which are paired with nothing.
        std::uint64_t const count = tensor.shape.elements();
        bool const is_target = select(tensor), is_whole_target = is_target && !is_floating(tensor.type);
        if (is_whole_target) { seen.whole_targets = count; }
        if (!is_target && (seen.fewest_said == 0 || count < seen.fewest_said)) { seen.fewest_said = count; }
        bool const pairs = seen.whole_targets > 0 && seen.whole_targets == seen.fewest_said;
        seen.has_target = seen.has_target || pairs || (is_target && !is_whole_target);
        bool room = true;
        for (window& each : seen.by_mode) { room = each.columns.grow(most_columns) && room; }
        return room;
    }
    [[nodiscard]] constexpr std::uint64_t feature_key(state const&, tensor_info const&) const noexcept {
        return key_of("sampled values in columns", sampled_values::most);
    }
    // Predictions alone are paired with nothing. In the first step their targets may come after them.
    [[nodiscard]] constexpr bool looks(state const& seen, observation const&) const noexcept {
        return seen.has_target || !seen.any_close;
    }
    // Pushes the number of elements and the layout along the batch axis, then the sampled elements.
    constexpr void extract(state&, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        if (it.stats.nonfinite() > 0) { return; }
        int const stated = batch_axis_of(it.tensor.flags), axis = stated < 0 ? 0 : stated;
        axis_layout const lie = axis < values.shape.rank ? layout_along(values, axis) : axis_layout{1, 1, 1};
        out.push(static_cast<double>(values.count));
        out.push(static_cast<double>(lie.units));
        out.push(static_cast<double>(lie.inner));
        visit_seen(values, [&](auto const& elements) {
            std::size_t const count = elements.size(), most = pairs_in(it.step.mode);
            for (std::size_t i = 0; i < most && i < count; ++i) {
                out.push(detail::see(elements[sampled_values::place(i, count, most)]).value);
            }
        });
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        constexpr std::size_t head = 3;
        if (it.step.mode == mode::predict || made.size() <= head || made.size() > head + most_pairs) { return; }
        side& mine = select(it.tensor) ? seen.target : seen.said;
        if (mine.count != 0) { return; }
        for (double const& each : made.first(head)) {
            if (!is_finite(each) || !(each >= 1) || !(each < 0x1p52)) { return; }  // a damaged record
        }
        if (made[1] * made[2] > made[0]) { return; }
        mine.count = static_cast<std::uint64_t>(made[0]), mine.tensor = it.tensor.name;
        mine.is_floating = is_floating(it.tensor.type);
        mine.samples = static_cast<std::uint64_t>(made[1]), mine.inner = static_cast<std::uint64_t>(made[2]);
        mine.paired = made.size() - head;
        for (std::size_t i = head; i < made.size(); ++i) { mine.values[i - head] = made[i]; }
    }
    constexpr truth close(state& seen, step_id at, findings& out) const noexcept {
        seen.train_closes += at.mode == mode::train ? 1 : 0;
        seen.any_close = true;
        bool const fit = seen.target.count == seen.said.count && seen.target.paired == seen.said.paired;
        std::uint64_t const count = fit ? seen.target.count : 0;
        bool const has_columns = seen.target.has_columns(), has_one = count == seen.target.samples;
        window& mine = seen.by_mode[index_of(at.mode)];
        for (std::size_t i = 0; i < seen.target.paired && i < count; ++i) { add(seen, mine, i); }
        seen.train_samples += at.mode == mode::train && count > 0 ? seen.target.samples : 0;
        seen.target.count = seen.said.count = 0;
        if (count == 0) { return truth::undecided; }
        if (mine.pairs >= samples && mine.pairs > 0) { judge(seen, has_columns, has_one, mine); }
        if (!mine.judged) { return truth::undecided; }
        bool const is_long_enough = mine.bad > 0 && mine.bad >= (mine.two_classes ? long_patience : patience);
        if (!mine.in_evaluation_alone && !is_long_enough) { return truth::no; }
        violation const who{seen.target.tensor, mine.measured, 1};
        bool const is_opposed = mine.opposed >= patience;
        // Rare tags are learned late.
        bool const lasts = mine.bad >= long_patience && (seen.differ == 3 || mine.two_classes);
        condition const how = lasts ? long_unrelated : unrelated;
        why_found const why = is_opposed ? why_found{"predictions run against their targets", opposed}
                              : mine.in_evaluation_alone
                                  ? why_found{"predictions are related to targets in training, but not in evaluation",
                                              in_evaluation_alone}
                                  : why_found{"predictions are unrelated to their targets", how};
        finding it = who.as_finding(why, "correlation", relation::less_equal, (is_opposed ? -6 : 2) * mine.error);
        if (it.condition == in_evaluation_alone) { it.remedy = detail::evaluation_remedy; }
        out.push(it);
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return malformed_of(select, predictions); }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `samples` pairs of numbers that are no classes, or `warmup` train "
               "closes";
    }

private:
    // Adds the i-th pair of the step.
    SPOTTER_STRICT static constexpr void add(state& seen, window& to, std::size_t i) noexcept {
        SPOTTER_STRICT_BODY
        double const target = seen.target.values[i], said = seen.said.values[i];
        bool const known =
            (seen.differ > 0 && target == seen.different[0]) || (seen.differ > 1 && target == seen.different[1]);
        if (!known && seen.differ < 2) { seen.different[seen.differ] = target; }
        seen.differ += known || seen.differ == 3 ? 0U : 1U;
        if (!to.at(seen.target.column_of(i), i).add(target, said)) { return; }
        ++to.pairs;
        to.fractions += is_whole(target) && is_whole(said) ? 0U : 1U;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr bool is_whole(double value) noexcept {
        SPOTTER_STRICT_BODY
        return magnitude(value) >= 0x1p52 || static_cast<double>(static_cast<std::int64_t>(value)) == value;
    }
    // Of two classes in one column.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_enough_of_both(state const& seen, window const& of) const noexcept {
        SPOTTER_STRICT_BODY
        double const one = (of.columns[0].mean_target - seen.different[0]) / (seen.different[1] - seen.different[0]);
        return one >= least_share && one <= 1 - least_share;
    }
    // `has_columns`: samples have several elements each; `has_one`: one each.
    SPOTTER_STRICT constexpr void judge(state const& seen, bool has_columns, bool has_one,
                                        window& mine) const noexcept {
        SPOTTER_STRICT_BODY
        for (std::size_t i = 0; i < mine.count; ++i) { mine.take(mine.columns[i]); }
        mine.two_classes = seen.differ == 2 && has_one;
        bool const several =
            seen.differ == 3 ? seen.target.is_floating : mine.two_classes || (seen.differ == 2 && has_columns);
        bool const numbers = several && 2 * mine.fractions >= mine.pairs;
        if (seen.train_closes >= warmup && numbers && is_finite(mine.products) && is_finite(mine.squares)) {
            double const spread = square_root(mine.freedom) * square_root(mine.squares);
            mine.measured = spread > 0 ? mine.products / spread : 0;
            mine.error = 1 / square_root(mine.freedom);
            bool const is_unrelated =
                mine.measured <= 2 * mine.error &&
                (!mine.two_classes || (mine.measured >= -2 * mine.error && has_enough_of_both(seen, mine)));
            window const& training = seen.by_mode[index_of(mode::train)];
            bool const is_below = is_unrelated && detail::is_below({mine.measured, mine.error},
                                                                   {training.measured, training.error}, apart);
            mine.in_a_row = is_unrelated ? mine.in_a_row + 1 : 0;
            mine.in_evaluation_alone = is_below && mine.in_a_row >= 2;
            bool const warm = seen.train_samples >= warmup_samples;
            mine.bad = is_unrelated && warm ? mine.bad + 1 : 0;
            mine.opposed = warm && mine.measured <= -6 * mine.error && !mine.two_classes ? mine.opposed + 1 : 0;
            mine.judged = mine.judged || warm || mine.in_evaluation_alone;
        }
        mine.clear();
    }
};

}  // namespace spotter::inline SPOTTER_ABI
