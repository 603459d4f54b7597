// SPDX-License-Identifier: Apache-2.0
// The report of a side-by-side replay says what was not compared.
#include <tests/catch.hpp>

#include <spotter/replay/side_by_side.hpp>
#include <spotter/report.hpp>

using namespace spotter;

TEST_CASE("what some stream lacks is reported, with the first of it") {
    side_by_side_report it;
    it.steps = 10;
    std::string const whole = describe(it);
    CHECK(whole.find("every stream") == std::string::npos);
    it.unpaired_names = {"bias"};
    it.unpaired_steps = {train(7), train(9)};
    CHECK(describe(it) == whole + "not in every stream: 1 tensor: \"bias\"\n"
                                  "not in every stream: 2 steps, the first train(7)\n");
    it.unpaired_names.assign(9, "x");
    CHECK(describe(it).find("9 tensors: \"x\" \"x\" \"x\" \"x\" \"x\" \"x\" \"x\" \"x\" ...\n") != std::string::npos);
}
