// SPDX-License-Identifier: Apache-2.0
// T20: the cost of a named section of a step, compared with two readings of the clock; and the cost of step times.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/spotter.hpp>

#include <ctime>

using namespace spotter;

namespace {

void look_twice() {
    timespec first{}, second{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &first);
    (void)::clock_gettime(CLOCK_MONOTONIC, &second);
    bench::do_not_optimise(first.tv_nsec);
    bench::do_not_optimise(second.tv_nsec);
}

}  // namespace

int main() {
    bench::scratch_folder const folder;
    hook watch{folder.path(), plan<>{}};
    constexpr std::size_t at_once = 200;
    bench::samples clock, scope, nested, tenth;
    std::uint64_t index = 0;
    auto const step = [&] { bench::do_not_optimise(watch.step(index++)); };
    char const* const names[] = {"data",    "forward", "backward", "update", "eval",
                                 "augment", "copy",    "loss",     "log",    "last"};
    for (char const* each : names) { auto const part = watch.section(each); }
    step();
    for (std::size_t round = 0; round < bench::rounds(2000, 50); ++round) {
        clock.time(at_once, look_twice);
        scope.time(at_once, [&] { auto const part = watch.section("data"); });
        tenth.time(at_once, [&] { auto const part = watch.section("last"); });
        {
            auto const outer = watch.section("forward");
            nested.time(at_once, [&] { auto const part = watch.section("conv"); });
        }
        step();
    }
    bench::figure("two looks at the clock", clock.median(), "ns");
    bench::target("T20 a section, over these", scope.median() - clock.median(), "ns", bench::wanted::at_most, 10);
    bench::target("T20 the tenth of ten, over these", tenth.median() - clock.median(), "ns", bench::wanted::at_most,
                  10);
    bench::target("T20 one in another, over these", nested.median() - clock.median(), "ns", bench::wanted::at_most, 10);
}
