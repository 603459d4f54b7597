// SPDX-License-Identifier: Apache-2.0
// any, all and fraction over names, with evidence, and what is undecided.
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace stage;

namespace {

// Steps of three gradients with these values; a NaN is a tensor without a finite element.
template <rule Rule>
truth gradients(run<Rule>& it, std::uint64_t index, std::initializer_list<float> values) {
    constexpr std::string_view names[] = {"grad/1", "grad/2", "grad/3"};
    std::size_t i = 0;
    for (float each : values) { it.see(train(index), names[i++], {each}); }
    it.see(train(index), "other", {100});
    return it.close(train(index));
}

}  // namespace

TEST_CASE("any holds for one, and names it, its value and how many more [S71]", "[S71]") {
    run it{any("grad/*", l2 > 2)};
    CHECK(gradients(it, 0, {1, 1, 1}) == truth::no);
    CHECK(gradients(it, 1, {1, 3, -4}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.rule == "any" && found.tensor == "grad/2" && found.measure == "l2" && found.measured == 3 &&
           found.threshold == 2));
    CHECK((found.how == relation::greater && found.others == 1 && found.step == train(1) &&
           found.severity == severity::warning));
    CHECK(gradients(it, 2, {nan_f, 3}) == truth::yes);
    CHECK(gradients(it, 3, {nan_f, 1}) == truth::undecided);
    CHECK(gradients(it, 4, {nan_f, nan_f}) == truth::undecided);
    CHECK(it.close(train(5)) == truth::undecided);
}

TEST_CASE("all holds for every one, and a NaN alone decides nothing") {
    run it{all("grad/*", mean_abs < 1e-7)};
    CHECK(gradients(it, 0, {0, 1e-8F, 0}) == truth::yes);
    CHECK((it.found[0].tensor == "grad/1" && it.found[0].others == 2));
    CHECK(gradients(it, 1, {0, 1, 0}) == truth::no);
    CHECK(gradients(it, 2, {0, nan_f}) == truth::undecided);
    CHECK(gradients(it, 3, {1, nan_f}) == truth::no);
    CHECK(it.close(train(4)) == truth::undecided);
    // One bad element among good ones blinds nobody.
    it.see(train(5), "grad/1", {nan_f, 1e-8F});
    CHECK(it.close(train(5)) == truth::yes);
}

TEST_CASE("a share of zeros is undecided of a tensor of nothing but NaN; a count of them is not") {
    run few{any("grad/*", zero_fraction < 0.5)};
    run none{any("grad/*", zeros < 1)};
    CHECK((few.step(train(0), "grad/1", {nan_f, nan_f}) == truth::undecided && few.found.empty()));
    CHECK(few.step(train(1), "grad/1", {nan_f, 0}) == truth::no);
    CHECK(few.step(train(2), "grad/1", {nan_f, 1}) == truth::yes);
    CHECK(none.step(train(0), "grad/1", {nan_f, nan_f}) == truth::yes);
}

TEST_CASE("fraction compares the share among those decided") {
    run it{fraction("grad/*", zero_fraction > 0.5) > 0.5};
    CHECK(gradients(it, 0, {0, 0, 1}) == truth::yes);
    CHECK((it.found[0].measured == Approx(2.0 / 3) && it.found[0].threshold == 0.5 && it.found[0].tensor == "grad/1"));
    CHECK(gradients(it, 1, {0, 1}) == truth::no);  // strictly more
    CHECK(it.close(train(2)) == truth::undecided);
    run low{fraction("grad/*", maximum > 0) <= 0.5};
    CHECK(gradients(low, 0, {1, -1, nan_f}) == truth::yes);
    CHECK(gradients(low, 1, {1, 1, -1}) == truth::no);
    CHECK(gradients(low, 2, {nan_f}) == truth::undecided);
    run at_least{fraction("grad/*", maximum > 0) >= 1};
    CHECK(gradients(at_least, 0, {1, 1, 1}) == truth::yes);
    run fewer{fraction("grad/*", maximum > 0) < 0.1};
    CHECK(gradients(fewer, 0, {-1, -1, -1}) == truth::yes);
}

TEST_CASE("a tensor observed twice in a step is judged twice [S26]", "[S26]") {
    run it{any("x", maximum > 0)};
    it.see(train(0), "x", {-1});
    it.see(train(0), "x", {1});
    CHECK(it.close(train(0)) == truth::yes);
    run every_one{all("x", maximum > 0)};
    every_one.see(train(0), "x", {-1});
    every_one.see(train(0), "x", {1});
    CHECK(every_one.close(train(0)) == truth::no);
}

TEST_CASE("steps that do not exist are not judged [S66]", "[S66]") {
    run it{any("x", maximum > 0) | for_steps{3}};
    CHECK(it.step(train(0), "x", {1}) == truth::no);
    CHECK(it.step(train(4), "x", {1}) == truth::no);
    CHECK(it.step(train(8), "x", {1}) == truth::yes);
    CHECK(it.covered().judged == 3);
}

TEST_CASE("a role, a list of names and a callable select as well as a glob") {
    CHECK(fired(any(role::gradient, maximum > 0), 1, "grad/w", {1}) == indices{0});
    CHECK(fired(any(names{"a", "b"}, maximum > 0), 1, "b", {1}) == indices{0});
    CHECK(fired(any([](std::string_view name) { return name.size() > 3; }, maximum > 0), 1, "abcd", {1}) == indices{0});
    CHECK(fired(any(glob{"*/w"} && !glob{"grad/*"}, maximum > 0), 1, "grad/w", {1}).empty());
    CHECK(fired(any(role::loss, nonfinite > 0 || maximum > 10), 1, "loss", {nan_f}) == indices{0});
}
