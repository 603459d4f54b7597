// SPDX-License-Identifier: Apache-2.0
// T9: the size on disk of long series of scalars, and of statistics alone, segments and sidecars together.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/spotter.hpp>

#include <cmath>
#include <filesystem>
#include <string>

using namespace spotter;

namespace {

// The size of all files in the folder.
std::uint64_t bytes_in(std::string const& folder) {
    std::uint64_t bytes = 0;
    for (auto const& each : std::filesystem::recursive_directory_iterator{folder}) {
        if (each.is_regular_file()) { bytes += each.file_size(); }
    }
    return bytes;
}

// A run of `steps` steps; `step(watch, index)` observes within each.
template <class Step, class Keep = decltype(payload)>
std::uint64_t record(std::size_t steps, Step&& step, Keep const& keep = payload) {
    bench::scratch_folder const folder;
    {
        hook watch{folder.path(), plan{collection{"all", "*", always{}, keep}}};
        for (std::size_t i = 0; i < steps; ++i) {
            watch.begin(train(i));
            step(watch, i);
            (void)watch.end();
        }
        watch.finish();
    }
    return bytes_in(folder.path());
}

}  // namespace

int main() {
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i) { names.push_back("metric/" + std::to_string(i)); }
    std::size_t const scalars = bench::rounds(1'000'000, 50'000);
    auto const value = [](std::size_t i) { return static_cast<float>(std::exp(-1e-6 * static_cast<double>(i))); };
    double const payload_bytes = static_cast<double>(scalars * sizeof(float));

    std::uint64_t const together = record(scalars / 100, [&](auto& watch, std::size_t step) {
        for (std::size_t k = 0; k < 100; ++k) { watch.observe(names[k], value(step * 100 + k)); }
    });
    bench::target("T9 f32 scalars of 100 series, 100 a step", static_cast<double>(together) / payload_bytes,
                  "x their payload", bench::wanted::at_most, 1.1);
    std::uint64_t const in_turn =
        record(scalars, [&](auto& watch, std::size_t step) { watch.observe(names[step % 100], value(step)); });
    bench::target("T9 one a step in turn", static_cast<double>(in_turn) / payload_bytes, "x their payload",
                  bench::wanted::at_most, 1.5);
    std::uint64_t const one =
        record(scalars, [&](auto& watch, std::size_t step) { watch.observe("loss", value(step)); });
    // Statistics for a plan or rules, of tensors whose values are not kept. A finite l2 takes 8 bytes; with its maximum
    // it takes 24.
    std::vector<std::vector<float>> tensors(25, std::vector<float>(64, 0.5F));
    std::size_t const watched = bench::rounds(10'000, 500);
    auto const statistics = [&](auto const& keep) {
        return static_cast<double>(record(
                   watched,
                   [&](auto& watch, std::size_t step) {
                       for (std::size_t k = 0; k < tensors.size(); ++k) {
                           tensors[k][0] = value(step * 100 + k);
                           watch.observe(names[k], tensors[k]);
                       }
                   },
                   keep)) /
               static_cast<double>(watched * tensors.size());
    };
    bench::figure("l2 of 25 tensors a step", statistics(stats(l2)), "bytes each");
    bench::figure("l2 and maximum of 25 tensors a step", statistics(stats(l2, maximum)), "bytes each");
    bench::figure("one series alone", static_cast<double>(one) / payload_bytes, "x their payload");
}
