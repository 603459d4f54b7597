// SPDX-License-Identifier: Apache-2.0
// The results of a supervised training, read from its records, and the tables of the page.
#pragma once

#include "../common/record.hpp"
#include "training.hpp"

#include <spotter/report.hpp>
#include <spotter/supervisor.hpp>
#include <spotter/workbench/runs_table.hpp>

#include <optional>
#include <string>
#include <vector>

namespace healing {

// The chain of attempts of one seed, and each attempt continued to its end.
struct chain {
    std::uint64_t seed = 0;
    sp::healing outcome{};
    sp::runs_table heeded{}, whole{};  // one row for each attempt; the last one reached its end and is equal in both
    bool same_numbers = false;         // each attempt equals the beginning of its continued run, bit for bit

    [[nodiscard]] static std::optional<double> accuracy(sp::runs_table const& of, std::size_t attempt) {
        for (std::size_t k = 0; k < of.outcomes.size(); ++k) {
            if (of.outcomes[k] == "metric/accuracy, eval") { return of.rows[attempt].outcomes[k]; }
        }
        return std::nullopt;
    }
    [[nodiscard]] static std::uint64_t steps(sp::runs_table const& of) {
        std::uint64_t sum = 0;
        for (sp::runs_row const& each : of.rows) { sum += each.steps; }
        return sum;
    }
    [[nodiscard]] static double seconds(sp::runs_table const& of) {
        double sum = 0;
        for (sp::runs_row const& each : of.rows) { sum += each.seconds; }
        return sum;
    }
    [[nodiscard]] double saved_steps() const {
        return 1 - static_cast<double>(steps(heeded)) / static_cast<double>(steps(whole));
    }
};

// Whether every loss of the shorter run equals that of the longer.
[[nodiscard]] inline bool begins_alike(sp::trial const& shorter, sp::trial const& longer) {
    auto const losses = [](sp::trial const& of) { return of["loss"].history(sp::mean, sp::during{sp::mode::train}); };
    auto const some = losses(shorter), all = losses(longer);
    if (some.empty() || some.size() > all.size()) { return false; }
    for (std::size_t i = 0; i < some.size(); ++i) {
        bool const no_number = some[i].value != some[i].value && all[i].value != all[i].value;
        if (some[i].step != all[i].step || (some[i].value != all[i].value && !no_number)) { return false; }
    }
    return true;
}

[[nodiscard]] inline std::string percent(std::optional<double> share) {
    return share && sp::is_finite(*share) ? fmt::format("{:.1f} %", 100 * *share) : std::string{"-"};
}

[[nodiscard]] inline std::string summary_table(std::vector<chain> const& all) {
    std::string text = "| seed | healed by | attempts | steps | steps, each attempt to its end | saved | seconds of "
                       "training | saved | right in the end |\n|---|---|---|---|---|---|---|---|---|\n";
    for (chain const& it : all) {
        std::size_t const last = it.heeded.rows.size() - 1;
        std::string const by =
            it.outcome.stable() ? it.outcome.attempts[last].asked.cure : std::string{name_of(it.outcome.how)};
        text += fmt::format("| {} | {} | {} | {} | {} | {:.0f} % | {:.0f}, {:.0f} | {:.0f} % | {} |\n", it.seed,
                            by.empty() ? "nothing was wrong" : by, it.heeded.rows.size(), chain::steps(it.heeded),
                            chain::steps(it.whole), 100 * it.saved_steps(), chain::seconds(it.whole),
                            chain::seconds(it.heeded), 100 * (1 - chain::seconds(it.heeded) / chain::seconds(it.whole)),
                            percent(chain::accuracy(it.heeded, last)));
    }
    return text;
}

[[nodiscard]] inline std::string chain_table(chain const& it) {
    std::string text =
        "| attempt | cure | the verdict of its record | steps | seconds | to its end | right in the end |"
        "\n|---|---|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < it.heeded.rows.size(); ++i) {
        sp::past_attempt const& each = it.outcome.attempts[i];
        text += fmt::format("| {} | {} | {} | {} | {:.1f} | {:.1f} | {} |\n", it.heeded.rows[i].name,
                            each.asked.cure.empty() ? "none" : each.asked.cure,
                            each.verdict.stable() ? "stable" : each.verdict.line(), it.heeded.rows[i].steps,
                            it.heeded.rows[i].seconds, it.whole.rows[i].seconds, percent(chain::accuracy(it.whole, i)));
    }
    return text;
}

}  // namespace healing
