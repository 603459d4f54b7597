// SPDX-License-Identifier: Apache-2.0
// The cost of the page of a run with ten thousand tensors at two steps.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/page.hpp>

#include <string>
#include <vector>

using namespace spotter;

namespace {

constexpr auto everything = plan{collection{"all", "*", always{}, payload}};

void record(std::string const& path, std::size_t tensors) {
    hook watch{path, everything};
    std::vector<float> values(64, 0.5F);
    std::vector<tensor_handle> all;
    for (std::size_t i = 0; i < tensors; ++i) { all.push_back(watch.tensor("layer" + std::to_string(i) + "/w")); }
    for (std::uint64_t step = 0; step < 2; ++step) {
        watch.begin(train(step));
        values[0] = static_cast<float>(step);
        for (tensor_handle const& each : all) { watch.observe(each, values); }
        watch.observe("loss", 1.0 / static_cast<double>(step + 1));
        (void)watch.end();
    }
    watch.finish();
}

}  // namespace

int main() {
    bench::scratch_folder const folder;
    std::string const path = folder.path() + "/run";
    std::size_t const tensors = bench::rounds(10'000, 200);
    record(path, tensors);
    bench::samples times;
    for (std::size_t round = 0; round < bench::rounds(5, 1); ++round) {
        times.time(1, [&] {
            trial const run = open_trial(path).value();
            bench::do_not_optimise(to_html(run).size());
        });
    }
    bench::target("the page of " + std::to_string(tensors) + " tensors at two steps", times.median() * 1e-9, "s",
                  bench::wanted::at_most, 0.3);
    return 0;
}
