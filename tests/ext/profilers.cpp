// SPDX-License-Identifier: Apache-2.0
// Sections passed on to other profilers: the same names in the same order, opened and closed together. Fake headers of
// these profilers stand in (tests/ext/profilers).
#include <tests/catch.hpp>

#include <spotter/ext/nvtx.hpp>
#include <spotter/ext/tracy.hpp>
#include <spotter/hook.hpp>

#include <string>
#include <vector>

static_assert(SPOTTER_HAS_NVTX == 1 && SPOTTER_HAS_TRACY == 1);

namespace {

std::vector<std::string> reported;
unsigned zones = 0;

}  // namespace

extern "C" int nvtxRangePushA(char const* message) {
    reported.emplace_back(message);
    return 0;
}
extern "C" int nvtxRangePop() {
    reported.emplace_back("pop");
    return 0;
}
test_zone begin_test_zone() { return {++zones, 1}; }
void name_test_zone(test_zone zone, char const* name, std::size_t size) {
    reported.push_back(std::to_string(zone.id) + ' ' + std::string(name, size));
}
void end_test_zone(test_zone zone) { reported.push_back(std::to_string(zone.id) + " ends"); }

using namespace spotter;

namespace {

template <class Hook>
void two_steps(Hook& watch) {
    for (std::uint64_t i = 0; i < 2; ++i) {
        {
            auto const outer = watch.section("forward");
            auto const inner = watch.section("conv");
        }
        (void)watch.step(i);
    }
}

}  // namespace

TEST_CASE("nvtx: sections are ranges, pushed and popped") {
    reported.clear();
    hook watch{plan<>{}, options{.sections = &nvtx_sections}};
    two_steps(watch);
    CHECK(reported == std::vector<std::string>{"forward", "conv", "pop", "pop", "forward", "conv", "pop", "pop"});
}

TEST_CASE("tracy: sections are zones, and each that begins ends") {
    reported.clear();
    zones = 0;
    hook watch{plan<>{}, options{.sections = &tracy_sections}};
    two_steps(watch);
    CHECK(reported == std::vector<std::string>{"1 forward", "2 conv", "2 ends", "1 ends", "3 forward", "4 conv",
                                               "4 ends", "3 ends"});
}

TEST_CASE("tracy: beyond thirty-two sections in one another nothing is shown, and nothing is lost") {
    reported.clear();
    zones = 0;
    hook watch{plan<>{}, options{.sections = &tracy_sections}};
    for (int i = 0; i < 40; ++i) { watch.begin_section("deep"); }
    for (int i = 0; i < 40; ++i) { watch.end_section("deep"); }
    CHECK(zones == 32);
    CHECK(reported.size() == 64);
    CHECK(reported.back() == "1 ends");
    CHECK(watch.health().good());
}
