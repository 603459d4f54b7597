// SPDX-License-Identifier: Apache-2.0
// The results of a sweep, read from its records, and the tables of the page.
#pragma once

#include "training.hpp"

#include <spotter/workbench/runs_table.hpp>

#include <limits>
#include <string>
#include <vector>

namespace sweep {

// A whole sweep: its table of runs.
struct sweep_results {
    sp::runs_table table{};
    std::vector<configuration> tried{};

    // The last loss of evaluation of a run; infinite where it is NaN.
    [[nodiscard]] double loss(std::size_t run) const { return outcome(run, "loss, eval"); }
    [[nodiscard]] double accuracy(std::size_t run) const { return outcome(run, "metric/accuracy, eval"); }
    // The run with the smallest loss, among those that reached their end.
    [[nodiscard]] std::size_t best() const {
        std::size_t found = 0;
        for (std::size_t i = 1; i < table.rows.size(); ++i) {
            if (!stopped(i) && loss(i) < loss(found)) { found = i; }
        }
        return found;
    }
    [[nodiscard]] bool stopped(std::size_t run) const { return table.rows[run].ended() == "stopped"; }
    [[nodiscard]] std::size_t stopped() const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < table.rows.size(); ++i) { count += stopped(i) ? 1 : 0; }
        return count;
    }
    [[nodiscard]] std::uint64_t steps() const {
        std::uint64_t sum = 0;
        for (sp::runs_row const& each : table.rows) { sum += each.steps; }
        return sum;
    }
    [[nodiscard]] double seconds() const {
        double sum = 0;
        for (sp::runs_row const& each : table.rows) { sum += each.seconds; }
        return sum;
    }

private:
    [[nodiscard]] double outcome(std::size_t run, std::string_view name) const {
        for (std::size_t k = 0; k < table.outcomes.size(); ++k) {
            std::optional<double> const it = table.rows[run].outcomes[k];
            if (table.outcomes[k] == name && it && sp::is_finite(*it)) { return *it; }
        }
        return std::numeric_limits<double>::infinity();
    }
};

// The same configurations twice: all to their end, and with bad ones stopped.
struct both_ways {
    std::uint64_t seed = 0;
    sweep_results whole{}, watched{};

    [[nodiscard]] double saved_steps() const {
        return 1 - static_cast<double>(watched.steps()) / static_cast<double>(whole.steps());
    }
    [[nodiscard]] double saved_seconds() const { return 1 - watched.seconds() / whole.seconds(); }
    // Of the stopped runs, the one that does best when continued to its end; the first run where none was stopped.
    [[nodiscard]] std::size_t best_of_stopped() const {
        std::size_t found = 0;
        for (std::size_t i = 0; i < watched.tried.size(); ++i) {
            bool const better = !watched.stopped(found) || whole.loss(i) < whole.loss(found);
            if (watched.stopped(i) && better) { found = i; }
        }
        return found;
    }
};

[[nodiscard]] inline std::string summary_table(std::vector<both_ways> const& all) {
    std::string text =
        "| seed | stopped | steps, all to the end | steps, watched | saved | seconds of training | saved | best, all "
        "to "
        "the end | best, watched | best of the stopped, had it gone on |\n|---|---|---|---|---|---|---|---|---|---|\n";
    for (both_ways const& it : all) {
        auto const named = [](sweep_results const& of, std::size_t run) {
            return fmt::format("{} (loss {:.4f}, {:.1f} % right)", of.table.rows[run].name, of.loss(run),
                               100 * of.accuracy(run));
        };
        text +=
            fmt::format("| {} | {} of {} | {} | {} | {:.0f} % | {:.0f}, {:.0f} | {:.0f} % | {} | {} | {} |\n", it.seed,
                        it.watched.stopped(), it.watched.tried.size(), it.whole.steps(), it.watched.steps(),
                        100 * it.saved_steps(), it.whole.seconds(), it.watched.seconds(), 100 * it.saved_seconds(),
                        named(it.whole, it.whole.best()), named(it.watched, it.watched.best()),
                        it.watched.stopped() > 0 ? named(it.whole, it.best_of_stopped()) : "none");
    }
    return text;
}

// For one seed: every configuration, how its run ended, and its result if it had gone on.
[[nodiscard]] inline std::string sweep_table(both_ways const& it) {
    std::string text = "| run | learning rate | weight decay | batch | width | ended | at | why, as `spotter watch` "
                       "said it | steps | of | loss to the end | "
                       "right to the end |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < it.watched.table.rows.size(); ++i) {
        sp::runs_row const& row = it.watched.table.rows[i];
        configuration const& how = it.watched.tried[i];
        double const loss = it.whole.loss(i);
        text +=
            fmt::format("| {} | {:.2g} | {:.2g} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1f} % |\n", row.name,
                        how.learning_rate, how.weight_decay, how.batch, how.width, row.ended(),
                        it.watched.stopped(i) ? sp::describe(row.stop_asked_at) : "", row.why, row.steps,
                        it.whole.table.rows[i].steps, sp::is_finite(loss) ? fmt::format("{:.3f}", loss) : "no number",
                        100 * it.whole.accuracy(i));
    }
    return text;
}

}  // namespace sweep
