// SPDX-License-Identifier: Apache-2.0
// The build settings and the machine of a program are in its record.
#include <spotter/record/environment.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#include <spotter/trial/environment_lines.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <map>
#include <string>

using namespace spotter;
using namespace spotter_test;

TEST_CASE(
    "a record says what its program was built with and runs on, in every attempt and for a reader that follows it") {
    temporary_folder const folder;
    for (int attempt = 0; attempt < 2; ++attempt) {
        hook watch{folder / "run", plan{}, options{.existing = existing::resume}};
        (void)watch.step(train(static_cast<std::uint64_t>(attempt)), "x"_t = 1.0F);
        watch.flush();
        auto const run = open_trial(folder / "run");
        REQUIRE(run);
        CHECK(run->environment() == environment_of_program());
    }
    std::map<std::string, std::string> reported;
    auto const run = open_trial(folder / "run").value();
    spotter::detail::each_environment_line(
        run.environment(), [&](std::string_view key, std::string_view value) { reported[std::string{key}] = value; });
    for (char const* const each : {"compiler", "flags", "target", "cores", "memory", "system"}) {
        INFO(each);
        CHECK(!reported[each].empty());
    }
    CHECK(run.environment().size() < 700);
#if defined(__OPTIMIZE__)
    CHECK(reported["flags"].rfind("optimised", 0) == 0);
#endif
}

TEST_CASE("lines of an environment: without a value, without an end, empty ones") {
    std::string all;
    auto const add = [&](std::string_view key, std::string_view value) {
        all += "[" + std::string{key} + "|" + std::string{value} + "]";
    };
    for (char const* const text : {"", "a", "a b c\nd", "\n\na \n"}) {
        spotter::detail::each_environment_line(text, add);
        all += ';';
    }
    CHECK(all == ";[a|];[a|b c][d|];[|][|][a|];");
}
