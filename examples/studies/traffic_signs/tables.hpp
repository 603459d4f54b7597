// SPDX-License-Identifier: Apache-2.0
// The results of the study, as the tables of its page.
#pragma once

#include "overhead.hpp"
#include "reading.hpp"

namespace traffic {

inline constexpr std::array<char const*, 4> recipe_names{"original", "half as long, rate falls", "and not mirrored",
                                                         "and sampled by class"};
inline constexpr std::array<char const*, 4> ending_names{"`loss_not_decreasing{}`", "`overtraining{}`",
                                                         "`overtraining::sagemaker_defaults()`",
                                                         "`overtraining{.require_both_stalled = true}`"};

// The results of one recipe.
struct recipe_results {
    std::uint64_t steps = 0;
    double accuracy = 0, accuracy_of_rare = 0;
    mirror_mistakes mirrored{};
};

// The results of one seed; recipes and endings in the order of their names.
struct seed_results {
    std::uint64_t seed = 0;
    outcome whole{}, heeded{};  // the original recipe, to its end and to its requested stop
    std::vector<ending> endings{};
    std::vector<recipe_results> recipes{};
    std::string says{};
    double unexplained = 0;  // the largest share of a score that its map does not explain

    [[nodiscard]] std::array<recipe_results, 4> by_recipe() const {
        return {recipes[0], recipes[1], recipes[2], recipes[3]};
    }
};

[[nodiscard]] inline std::string overhead_table(std::vector<slowdown> const& rows) {
    std::string head = "| kept every |", rule = "|---|", body;
    for (auto const& [which, name] : keepings) {
        head += fmt::format(" {}: thread | clock |", name);
        rule += "---|---|";
    }
    for (slowdown const& row : rows) {
        body += fmt::format("| {} |", row.interval == 1 ? "step" : fmt::format("{} steps", row.interval));
        for (spent const& each : row.of) { body += fmt::format(" {:.2f} × | {:.2f} × |", each.thread, each.clock); }
        body += "\n";
    }
    return head + "\n" + rule + "\n" + body;
}

// The same as records, one run for each choice of what is kept, for a common page over the interval.
inline void record_overhead(std::vector<slowdown> const& rows, std::string const& folder) {
    for (std::size_t k = 0; k < keepings.size(); ++k) {
        sp::hook watch{fmt::format("{}/{}", folder, keepings[k].second),
                       sp::plan{sp::collection{"all", "*", sp::always{}, sp::payload}},
                       sp::options{.existing = sp::existing::replace}};
        for (slowdown const& row : rows) {
            watch.begin(sp::train(row.interval));
            watch.observe("metric/slowdown", row.of[k].clock);
            (void)watch.end();
        }
    }
}

[[nodiscard]] inline std::string endings_table(std::vector<seed_results> const& seeds) {
    std::string text =
        "| seed | rule | ends at step | saved | accuracy then | at the end |\n|---|---|---|---|---|---|\n";
    for (seed_results const& each : seeds) {
        for (std::size_t k = 0; k < each.endings.size(); ++k) {
            ending const& by = each.endings[k];
            double const saved = 1 - static_cast<double>(by.steps) / static_cast<double>(each.whole.steps);
            text += by.fired
                        ? fmt::format("| {} | {} | {} | {:.0f} % | {:.1f} % | {:.1f} % |\n", each.seed, ending_names[k],
                                      by.steps, 100 * saved, 100 * by.accuracy, 100 * each.whole.accuracy)
                        : fmt::format("| {} | {} | silent | | | {:.1f} % |\n", each.seed, ending_names[k],
                                      100 * each.whole.accuracy);
        }
    }
    return text;
}

[[nodiscard]] inline std::string recipes_table(std::vector<seed_results> const& seeds) {
    std::string text = "| seed | recipe | steps | accuracy | rarest ten classes | keep right for left | left for right "
                       "| turn right for left | "
                       "left for right |\n|---|---|---|---|---|---|---|---|---|\n";
    for (seed_results const& each : seeds) {
        for (std::size_t k = 0; k < each.recipes.size(); ++k) {
            recipe_results const& it = each.recipes[k];
            text += fmt::format("| {} | {} | {} | {:.1f} % | {:.1f} % | {:.0f} % | {:.0f} % | {:.0f} % | {:.0f} % |\n",
                                each.seed, recipe_names[k], it.steps, 100 * it.accuracy, 100 * it.accuracy_of_rare,
                                100 * it.mirrored.keep_right, 100 * it.mirrored.keep_left, 100 * it.mirrored.turn_right,
                                100 * it.mirrored.turn_left);
        }
    }
    return text;
}

// The findings for the original recipe.
[[nodiscard]] inline std::string said(seed_results const& it) {
    return fmt::format(
        "Of seed {}, in the loop and then of the last evaluation:\n\n```\n{}```\n\nThe parts of the saliency maps add "
        "up to the scores but for {:.1e} of them.\n",
        it.seed, it.says, it.unexplained);
}

}  // namespace traffic
