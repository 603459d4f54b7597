// SPDX-License-Identifier: Apache-2.0
// The cost of acting: a checkpoint compared with a plain write of the same bytes, and a step with an alarm that is
// computed again compared with three plain computations.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/checkpoints.hpp>
#include <spotter/rerun.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>

#include <cstring>
#include <limits>

#include <fcntl.h>
#include <unistd.h>

using namespace spotter;

namespace {

constexpr std::size_t layers = 16;
constexpr double milliseconds = 1e-6;

// The same bytes written as a program does that does not check its numbers.
bool plain_write(std::string const& path, std::vector<std::vector<float>> const& net) {
    int const file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool fine = file >= 0;
    for (std::vector<float> const& each : net) {
        auto const size = static_cast<ssize_t>(each.size() * sizeof(float));
        fine = fine && ::write(file, each.data(), each.size() * sizeof(float)) == size;
    }
    return ::close(file) == 0 && fine;
}

}  // namespace

int main() {
    std::size_t const elements = bench::rounds(1 << 20, 1 << 10);  // per layer; 64 MiB in all
    std::vector<std::vector<float>> net(layers, bench::weights(elements));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < layers; ++i) { names.push_back("layer" + std::to_string(i) + "/weight"); }
    bench::scratch_folder const folder;
    std::filesystem::create_directories(folder.path());
    hook watch{plan{}, non_finite{}};

    bench::samples plain, written, narrowed;
    bool fine = true;
    checkpoints kept{folder.path() + "/kept", {.sync = false}},
        small{folder.path() + "/small", {.as = dtype::bf16, .sync = false}};
    for (std::size_t i = 0; i < bench::rounds(20, 2); ++i) {
        (void)watch.step(train(i));
        plain.time(1, [&] { fine = fine && plain_write(folder.path() + "/plain", net); });
        auto const save = [&](checkpoints& into, bench::samples& times) {
            times.time(1, [&] {
                fine = fine && !into.save(watch, train(i), named_tensor{names[0], offer(net[0])},
                                          named_tensor{names[1], offer(net[1])}, named_tensor{names[2], offer(net[2])},
                                          named_tensor{names[3], offer(net[3])});
            });
        };
        save(kept, written);
        save(small, narrowed);
    }
    // A checkpoint has four of the sixteen layers, the plain file all.
    double const of_plain = plain.median() / 4;
    bench::figure("a checkpoint of 16 MiB, looked through, written aside, renamed", milliseconds * written.median(),
                  "ms", bench::control("a plain write of the same bytes", milliseconds * of_plain, "ms"));
    bench::figure("times the plain write", written.median() / of_plain, "");
    bench::figure("the same as bf16", milliseconds * narrowed.median(), "ms");

    // A step that reads all weights once, with a NaN in its result.
    std::vector<float> sums(layers);
    auto const compute = [&] {
        for (std::size_t i = 0; i < layers; ++i) {
            float squares = 0;
            for (float const each : net[i]) { squares += each * each; }
            sums[i] = squares;
        }
    };
    auto const show = [&](auto& see) {
        for (std::size_t i = 0; i < layers; ++i) { see.observe(names[i], net[i]); }
    };
    rerun again{[] {}, [] {}, compute, show};
    bench::samples usual, repeated, judged;
    for (std::size_t i = 0; i < bench::rounds(10, 2); ++i) {
        net[3][5] = 1;
        usual.time(1, compute);
        judged.time(1, [&] { bench::do_not_optimise(again.step(watch, train(1000 + 2 * i))); });
        net[3][5] = std::numeric_limits<float>::quiet_NaN();
        repeated.time(1, [&] {
            rerun_result const it = again.step(watch, train(1001 + 2 * i));
            fine = fine && it.verdict == rerun_verdict::reproducible;
        });
    }
    bench::figure("a step of 64 MiB through a rerun, without an alarm", milliseconds * judged.median(), "ms",
                  bench::control("the computation alone", milliseconds * usual.median(), "ms"));
    bench::figure("with an alarm: computed twice, copied twice, compared", milliseconds * repeated.median(), "ms");
    return fine ? 0 : 1;
}
