// SPDX-License-Identifier: Apache-2.0
// Core: patterns other than globs, which types a user may write as a pattern, selectors, and their descriptions.
#include <spotter/core/describe.hpp>
#include <spotter/core/selector.hpp>

#include <tests/catch.hpp>

#include <string>

using namespace spotter;

namespace {

constexpr tensor_info named(std::string_view name, role what = role::other, extents shape = {}) {
    tensor_info info;
    info.name = name;
    info.role = what;
    info.shape = shape;
    return info;
}
template <class Pattern>
std::string said(Pattern const& it) {
    sentence out;
    describe(it, out);
    return std::string{out.view()};
}

}  // namespace

TEST_CASE("a literal, a role, a callable and a list of names are patterns [A16] [A17]", "[A16][A17]") {
    constexpr tensor_info weight = named("fc1/w", role::weight);
    static_assert(as_pattern("*/w")(weight) && !as_pattern("*/b")(weight));
    static_assert(as_pattern(role::weight)(weight) && !as_pattern(role::bias)(weight));
    static_assert(as_pattern([](std::string_view name) { return name.size() == 5; })(weight));
    static_assert(names{"a", "fc1/w"}(weight) && !names{"a", "fc1"}(weight));
    CHECK((glob{"*/w"} && !glob{"grad/*"})(weight));
    CHECK_FALSE((glob{"*/w"} && !glob{"grad/*"})(named("grad/fc1/w")));
    CHECK((as_pattern(role::bias) || as_pattern("fc*"))(weight));
    static_assert(!pattern_source<int> && !pattern_source<double>);
}

TEST_CASE("a selector holds a role, a glob or a function") {
    tensor_info const weight = named("fc1/w", role::weight, {2, 3});
    CHECK(selector{role::weight}(weight));
    CHECK_FALSE(selector{role::bias}(weight));
    CHECK(selector{"fc*"}(weight));
    CHECK_FALSE(selector{"critic/*"}(weight));
    CHECK(selector{[](tensor_info const& it) { return it.shape.rank == 2; }}(weight));
    CHECK(selector{"fc*"}.malformed().empty());
    std::string const bad = "fc[";
    CHECK(selector{bad.c_str()}.malformed() == "fc[");
    CHECK_FALSE(selector{bad.c_str()}(weight));
}

TEST_CASE("the selections of built-in rules leave out vectors and what is frozen") {
    tensor_info weight = named("fc1/w", role::weight, {2, 3});
    CHECK(select::weights(weight));
    weight.flags = flag::frozen;
    CHECK_FALSE(select::weights(weight));
    CHECK_FALSE(select::weights(named("scale/w", role::weight, {3})));
    tensor_info gradient = named("grad/fc1/w", role::gradient, {2, 3});
    CHECK(select::weight_gradients(gradient));  // its partner is not known yet
    gradient.partner_role = role::weight;
    CHECK(select::weight_gradients(gradient));
    gradient.partner_role = role::bias;
    CHECK_FALSE(select::weight_gradients(gradient));
    tensor_info output = named("act/1", role::activation, {2, 3});
    CHECK(select::relu_activations(output));
    output.activation = activation_kind::tanh;
    CHECK_FALSE(select::relu_activations(output));
    CHECK(select::weights_and_activations(output));
}

TEST_CASE("patterns are described the way they are written") {
    CHECK(said(glob{"*/w"} && !glob{"grad/*"}) == "(\"*/w\" && !\"grad/*\")");
    CHECK(said(of_role{role::loss} || names{"a", "b"}) == "(role::loss || names{a, b})");
    CHECK(said(as_pattern([](std::string_view) { return true; })) == "a function of the name");
}
