// SPDX-License-Identifier: Apache-2.0
// Rules over a record, as `spotter check` runs them: a million steps with a loss, judged from rows only.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/replay.hpp>
#include <spotter/rule/dynamic_rule.hpp>
#include <spotter/spotter.hpp>

#include <random>
#include <string>

using namespace spotter;

namespace {

constexpr auto everything = plan{collection{"all", "*", always{}, payload}};

// Records a falling loss with a tenth of noise, and an evaluation loss at every hundredth step.
void record_loss(std::string const& path, std::uint64_t steps) {
    std::mt19937 random{1};
    std::normal_distribution<double> noise{1, 0.1};
    hook watch{path, everything};
    for (std::uint64_t i = 0; i < steps; ++i) {
        double const level = 3 / (1 + static_cast<double>(i) / static_cast<double>(steps) * 20);
        (void)watch.step(train(i), "loss"_t = static_cast<float>(level * noise(random)));
        if (i % 100 == 99) { (void)watch.step(eval(i), "loss"_t = static_cast<float>(level * 1.05)); }
    }
    watch.finish();
}

// In seconds, opening the run included.
double time_of(std::string const& path, dynamic_rule const& rules) {
    bench::samples times;
    for (std::size_t round = 0; round < bench::rounds(3, 1); ++round) {
        times.time(1, [&] {
            auto const run = open_trial(path);
            bench::do_not_optimise(replay(*run, rules).fired);
        });
    }
    return times.median() * 1e-9;
}

}  // namespace

int main() {
    bench::scratch_folder const folder;
    std::string const path = folder.path() + "/loss";
    std::uint64_t const steps = bench::rounds(1'000'000, 20'000);
    record_loss(path, steps);
    std::string const what = std::to_string(steps) + " steps judged by ";
    bench::target(what + "a limit", time_of(path, to_dynamic(any("loss", mean > 100))), "s", bench::wanted::at_most, 1);
    bench::target(what + "four rules on losses",
                  time_of(path, to_dynamic(together(non_finite{}, loss_not_decreasing{}, overfit{}, underfit{}))), "s",
                  bench::wanted::at_most, 1);
    bench::target(what + "packs::supervised, 31 rules", time_of(path, to_dynamic(packs::supervised)), "s",
                  bench::wanted::at_most, 1);
    return 0;
}
