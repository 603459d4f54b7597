// SPDX-License-Identifier: Apache-2.0
// Records the runs that bench/python_values.py reads: `bench_python_values FOLDER && python3 bench/python_values.py
// FOLDER`. They hold values only, so that readers must compute each statistic: few large tensors, small tensors at many
// steps, and ten thousand tensors at two steps.
#include "bench.hpp"
#include "scratch_folder.hpp"
#include "training.hpp"

#include <spotter/spotter.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

using namespace spotter;

namespace {

constexpr plan keep{collection{"all", "*", always{}, payload}};

[[nodiscard]] bool record(std::string const& path, std::size_t tensors, std::size_t elements, std::uint64_t steps) {
    hook watch{path, keep, options{.existing = existing::replace, .ring_bytes = 64U << 20}};
    std::vector<float> values = bench::normal_values(elements, 0.02F);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < tensors; ++i) { names.push_back("layer" + std::to_string(i) + "/w"); }
    for (std::uint64_t step = 0; step < steps; ++step) {
        watch.begin(train(step));
        for (std::string const& name : names) {
            values[step % elements] += 0.001F;
            watch.observe(name, values);
        }
        bench::do_not_optimise(watch.end());
    }
    watch.finish();
    return watch.health().good();
}

}  // namespace

int main(int count, char** words) {
    bench::scratch_folder const scratch;
    std::string const folder = count > 1 ? words[1] : scratch.path();
    bool const sound = record(folder + "/large", 4, bench::rounds(1U << 20, 1U << 12), bench::rounds(16, 2)) &&
                       record(folder + "/small", 4, 1U << 12, bench::rounds(500, 2)) &&
                       record(folder + "/many", bench::rounds(10'000, 10), 64, 2);
    std::uintmax_t bytes = 0;
    for (auto const& each : std::filesystem::recursive_directory_iterator{folder}) {
        bytes += each.is_regular_file() ? each.file_size() : 0;
    }
    bench::figure("recorded", 1e-6 * static_cast<double>(bytes), "MB");
    return sound ? 0 : 1;
}
