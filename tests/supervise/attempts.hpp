// SPDX-License-Identifier: Apache-2.0
// Shared by tests of the supervisor: trainings of a few steps, good and bad.
#pragma once

#include <spotter/supervisor.hpp>

#include <tests/trial/runs.hpp>

#include <limits>
#include <string>
#include <vector>

namespace spotter_test {

constexpr spotter::plan keep_losses{
    spotter::collection{"losses", "{loss,grad/w}", spotter::always{}, spotter::payload}};

struct training {
    float loss = 1;      // NaN: non_finite asks for a stop
    float gradient = 1;  // above 100: too_steep asks for a stop
    std::uint64_t steps = 5;

    // Records at `run`, and stops where a rule asks for it. Returns the path of the record.
    std::string operator()(std::string const& run, spotter::supervised_attempt const& asked) const {
        using namespace spotter::literals;
        spotter::hook watch{
            run, keep_losses,
            spotter::on(spotter::any("loss", spotter::nonfinite > 0), spotter::stop) | spotter::named{"non_finite"},
            spotter::on(spotter::any("grad/*", spotter::maximum > 100), spotter::stop) | spotter::named{"too_steep"}};
        asked.note(watch);
        for (std::uint64_t i = 0; i < steps; ++i) {
            float const now = i < 2 ? 1 : loss;
            auto const found = watch.step(spotter::train(i), "loss"_t = now, "grad/w"_t = gradient);
            if (found.decision() == spotter::decision::stop) { break; }
        }
        std::string const where{watch.path()};
        watch.finish();
        return where;
    }
};

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

[[nodiscard]] inline std::vector<std::string> names_of_cures(spotter::healing const& outcome) {
    std::vector<std::string> names;
    for (spotter::past_attempt const& each : outcome.attempts) { names.push_back(each.asked.cure); }
    return names;
}
[[nodiscard]] inline std::vector<std::string> causes(spotter::healing const& outcome) {
    std::vector<std::string> names;
    for (spotter::past_attempt const& each : outcome.attempts) { names.push_back(each.verdict.cause); }
    return names;
}

}  // namespace spotter_test
