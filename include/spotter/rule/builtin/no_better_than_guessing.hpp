// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a classifier that is no better than guessing. docs/rules.md#no_better_than_guessing
#pragma once

#include <spotter/rule/builtin/classes.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>

namespace spotter::inline SPOTTER_ABI {

// Judges windows of `samples` pairs of label and prediction, for each mode (train and eval), from the `warmup`-th train
// close and the `warmup_pairs`-th training pair on (a step may have a single sample). A window is no better than
// guessing if its number of right predictions is at most two (binomial) standard deviations above the number that
// always naming its most frequent label would get. `patience` such windows in a row are a warning, until a window is
// better. Exception: the loss may show knowledge that right answers do not, where classes are not equally frequent. If
// the first losses of a mode were at least `like_entropy` times the entropy H of all its labels so far, the loss is a
// cross-entropy. Then a window whose mean loss is below `known` times H is better than a guess from class frequencies
// (Shannon 1948; H is corrected by (classes - 1) / 2 samples, Miller 1955). A loss that has come down towards H has
// learned the frequencies first, as language models do, and has until the `rests`-th train close to learn more. A
// window where one class has more than `largest_share` of the labels decides nothing: a model may learn rare classes
// and still name them seldom. Two windows of evaluation in a row are enough, and need no `warmup_pairs`, where the gain
// over that guess is `apart` standard errors below that of training: what is learned does not carry over. Labels and
// predictions are paired by position; see classes.hpp.
struct no_better_than_guessing {
    using kind = rule_kind;
    static constexpr std::string_view name = "no_better_than_guessing";
    static constexpr std::string_view remedy = "Check that labels belong to their inputs, that the loss has the right "
                                               "sign, and that the output is read as it is trained.";

    enum condition : std::uint8_t { by_chance = 1, in_evaluation_alone };  // alone: training is better than guessing

    selector select = role::label;
    selector predictions = role::prediction;  // compared with the labels
    std::uint64_t samples = 200;              // pairs of a window
    std::uint64_t warmup = 200;               // train closes
    std::uint64_t patience = 3;               // windows
    double largest_share = 0.6;               // fraction of a window's labels
    std::uint64_t warmup_pairs = 5000;        // training pairs
    double even = 0.98;                       // entropy of the labels, relative to equally frequent classes
    double like_entropy = 0.9;                // times the entropy of the labels
    double known = 0.95;                      // times the entropy of the labels
    std::uint64_t rests = 1000;               // train closes
    double apart = 3;                         // standard errors between training and evaluation
    bool argmax = false;                      // predictions are scores, whatever their type and rank
    int class_axis = default_axis;            // of scores; 1 for rank >= 2 (batch first)

    struct window {                                   // of one mode
        slot_array<std::uint64_t> labels;             // by class
        slot_array<std::uint64_t> ever;               // by class: of all windows
        std::uint64_t ever_pairs = 0;                 // of all windows
        std::uint64_t pairs = 0, right = 0, bad = 0;  // `bad`: windows in a row
        double measured = 0;                          // share of right predictions, of the last whole window
        double share = 0, error = 0;                  // of its most frequent label, and the standard error of that
        std::uint64_t in_a_row = 0;                   // windows by chance, before `warmup_pairs` too
        bool in_evaluation_alone = false;             // two of them, and training is better
        running_mean loss{};                          // of the closes of this window
        measurement first_loss{};                     // the mean of the first window
        bool judged = false;                          // at least one window was full

        // A guess names the most frequent label.
        [[nodiscard]] SPOTTER_STRICT constexpr double limit() const noexcept {
            SPOTTER_STRICT_BODY
            return share + 2 * error;  // twice is exact
        }
        [[nodiscard]] constexpr detail::estimate above_guess() const noexcept { return {measured - share, error}; }
    };
    struct state {
        class_pairs step;
        window by_mode[mode_count];
        std::uint64_t train_closes = 0, train_pairs = 0;
        bool lacks_memory = false;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return predictions(tensor)         ? stats_mask::feature
               : tensor.role == role::loss ? stats_mask::sum
                                           : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        bool room = seen.step.declare(tensor, select(tensor), predictions(tensor));
        for (window& each : seen.by_mode) { room = each.labels.grow(16) && each.ever.grow(16) && room; }
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
        if (it.tensor.role == role::loss && !select(it.tensor) && !predictions(it.tensor)) {
            measurement const loss = loss_of(it);
            if (loss.known) { seen.by_mode[index_of(it.step.mode)].loss.add(loss.value); }
            return;
        }
        seen.step.add(it.tensor, classes);
    }
    constexpr truth close(state& seen, step_id at, findings& out) const noexcept {
        seen.train_closes += at.mode == mode::train ? 1 : 0;
        std::string_view const tensor = seen.step.tensor;
        window& mine = seen.by_mode[index_of(at.mode)];
        seen.step.each([&](std::uint32_t label, std::uint32_t said) {
            if (!mine.labels.grow(label + std::size_t{1}) || !mine.ever.grow(label + std::size_t{1})) {
                seen.lacks_memory = true;
                return;
            }
            ++mine.labels[label], ++mine.ever[label];
            ++mine.pairs, ++mine.ever_pairs;
            seen.train_pairs += at.mode == mode::train ? 1 : 0;
            mine.right += label == said ? 1 : 0;
        });
        bool const any = !seen.step.labels.all().empty();
        seen.step.clear();
        if (!any) { return truth::undecided; }
        if (mine.pairs >= samples && mine.pairs > 0) { judge(seen, mine); }
        if (!mine.judged) { return truth::undecided; }
        if (!mine.in_evaluation_alone && (mine.bad == 0 || mine.bad < patience)) { return truth::no; }
        violation const who{tensor, mine.measured, 1};
        why_found const why =
            mine.in_evaluation_alone
                ? why_found{"better than guessing in training, but not in evaluation", in_evaluation_alone}
                : why_found{"as often right as always naming the most frequent label", by_chance};
        finding it = who.as_finding(why, "share of right predictions", relation::less_equal, mine.limit());
        if (mine.in_evaluation_alone) { it.remedy = detail::evaluation_remedy; }
        out.push(it);
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return malformed_of(select, predictions); }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept {
        return seen.lacks_memory || seen.step.lacks_memory();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `samples` pairs of classes, or `warmup` train closes, or one class is "
               "nearly all";
    }

private:
    // Whether the loss shows more knowledge of a window's labels than their frequencies, or has only just reached
    // those.
    [[nodiscard]] SPOTTER_STRICT constexpr bool knows(state const& seen, window const& mine,
                                                      double loss) const noexcept {
        SPOTTER_STRICT_BODY
        double const count = static_cast<double>(mine.ever_pairs);
        double classes = 0;
        for (std::uint64_t const each : mine.ever) { classes += each > 0 ? 1 : 0; }
        // Corrected for the average deficit of a sample of this size (Miller and Madow, 1955).
        double const entropy = entropy_of(mine.ever, count) + (classes - 1) / (2 * count);
        // With too few labels of each class that is not decided.
        if (10 * classes <= count && entropy >= even * natural_log(classes)) { return false; }
        measurement const& in_training = seen.by_mode[index_of(mode::train)].first_loss;
        double const first = in_training.known ? in_training.value : mine.first_loss.value;
        if (first >= like_entropy * entropy && loss < known * entropy) { return true; }
        double const half_way = 0.5 * (first + entropy);
        return seen.train_closes < rests && known * first >= entropy && loss < half_way;
    }
    SPOTTER_STRICT constexpr void judge(state const& seen, window& mine) const noexcept {
        SPOTTER_STRICT_BODY
        std::uint64_t most = 0;
        for (std::uint64_t const each : mine.labels) { most = each > most ? each : most; }
        double const count = static_cast<double>(mine.pairs);
        double const share = static_cast<double>(most) / count;
        measurement const loss = std::exchange(mine.loss, {}).value();
        if (loss.known && !mine.first_loss.known) { mine.first_loss = loss; }
        if (seen.train_closes >= warmup && share <= largest_share) {
            mine.error = square_root(share * (1 - share) / count);
            mine.measured = static_cast<double>(mine.right) / count;
            mine.share = share;
            bool const better = mine.measured > mine.limit() || (loss.known && knows(seen, mine, loss.value));
            bool const is_below =
                detail::is_below(mine.above_guess(), seen.by_mode[index_of(mode::train)].above_guess(), apart);
            mine.in_a_row = better ? 0 : mine.in_a_row + 1;
            mine.in_evaluation_alone = is_below && mine.in_a_row >= 2;
            bool const warm = seen.train_pairs >= warmup_pairs;
            mine.bad = better || !warm ? 0 : mine.bad + 1;
            mine.judged = mine.judged || warm || mine.in_evaluation_alone;
        }
        for (std::uint64_t& each : mine.labels) { each = 0; }
        mine.pairs = mine.right = 0;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
