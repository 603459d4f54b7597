// SPDX-License-Identifier: Apache-2.0
// Names by regular expression: unanchored search, and a malformed one told when the hook starts.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#if SPOTTER_EXCEPTIONS
#include <spotter/plan/regex.hpp>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("an expression of SageMaker Debugger's means what it meant: search anywhere in the name [A16]") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"outputs", spotter::regex{".*relu_output"}},
                          collection{"layers", spotter::regex{"fc[12]/"} && !glob{"grad/*"}}}};
    (void)watch.step(train(0), "conv0_relu_output_0"_t = 1.0, "relu"_t = 1.0, "fc1/w"_t = 1.0, "grad/fc2/w"_t = 1.0,
                     "fc3/w"_t = 1.0);
    CHECK(sink.kept.size() == 2);
    CHECK(sink.infos["conv0_relu_output_0"].collections == 0b01);
    CHECK(sink.infos["fc1/w"].collections == 0b10);
    CHECK(sink.collections[1] == "layers: (regex{\"fc[12]/\"} && !\"grad/*\"), always: payload");
}

TEST_CASE("a malformed expression is bad_pattern that names it, and nothing of the plan is half applied [S27]") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"good", "*"}, collection{"bad", spotter::regex{"grad/("}}}};
    CHECK(watch.health().first.code == errc::bad_pattern);
    CHECK(watch.health().first.what.view().find("grad/(") != std::string_view::npos);
    (void)watch.step(train(0), "grad/x"_t = 1.0, "y"_t = 1.0);
    CHECK(sink.kept.empty());
    CHECK(watch.health().steps == 1);
}

TEST_CASE("a rule may select by expression; a malformed one switches it off") {
    hook watch{plan{}, any(spotter::regex{"^fc.*w$"}, maximum > 0.0), any(spotter::regex{"["}, maximum > 0.0)};
    CHECK(watch.health().first.code == errc::bad_pattern);
    CHECK(watch.step(train(0), "fc/w"_t = 1.0, "fc/b"_t = 1.0).size() == 1);
}
#endif
