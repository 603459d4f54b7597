// SPDX-License-Identifier: Apache-2.0
// Rules over runs and workers side by side: the examples of the catalogue.
#include <tests/catch.hpp>
#include <tests/rule/stage.hpp>

#include <spotter/rule/builtin/replica_divergence.hpp>
#include <spotter/rule/builtin/similar_across_runs.hpp>
#include <spotter/rule/builtin/straggler.hpp>

using namespace stage;

namespace {

using values = std::initializer_list<float>;

// One step at which the streams have these values of a tensor.
template <rule Rule>
truth beside(run<Rule>& it, step_id at, std::string_view name, std::initializer_list<values> of_streams) {
    it.stream = 0;
    for (values const& each : of_streams) {
        it.see(at, name, each);
        ++it.stream;
    }
    return it.close(at);
}
// Two streams that each have one tensor of some shape.
template <rule Rule>
truth shapes(Rule const& rule, tensor_ref const& first, tensor_ref const& second) {
    run<Rule> it{rule};
    it.see(train(0), "w", first);
    it.stream = 1;
    it.see(train(0), "w", second);
    return it.close(train(0));
}

bool two_runs() {
    run<similar_across_runs> it{{}};
    for (std::uint64_t i = 0; i < 6; ++i) {
        for (it.stream = 0; it.stream < 2; ++it.stream) {
            it.see(train(i), "w1", {1, 2});
            it.see(train(i), "w2", {1, it.stream == 1 && i == 4 ? 2.5F : 2.0F});
        }
        if ((it.close(train(i)) == truth::yes) != (i == 4)) { return false; }
        if (i == 4 && it.found[0].tensor != "w2") { return false; }
    }
    return true;
}

constexpr bool slow_worker() {
    run<straggler> it{{.window = 2}};
    bool found = false;
    for (std::uint64_t i = 0; i < 2; ++i) {
        for (it.stream = 0; it.stream < 2; ++it.stream) {
            it.see(train(i), "time/step", {it.stream == 1 ? 0.2F : 0.1F});
        }
        found = it.close(train(i)) == truth::yes;
    }
    return found && it.found[0].worker == 1;
}
static_assert(slow_worker());

}  // namespace

TEST_CASE("similar_across_runs: equal to step 3, weight w2 differs at 4: fires at 4, tensor w2") {
    CHECK(two_runs());
    run<similar_across_runs> it{{}};
    CHECK(beside(it, train(0), "w2", {{1, 2}, {1, 2}}) == truth::no);
    CHECK(beside(it, train(1), "w2", {{1, 2}, {1, 3}}) == truth::yes);
    CHECK(it.found[0].tensor == "w2");
    CHECK(it.found[0].reason == "values differ");
    CHECK(it.found[0].worker == 1);
    CHECK(it.found[0].severity == severity::warning);
    CHECK(beside(it, train(2), "w2", {{1, 3}, {1, 3}}) == truth::no);
}

TEST_CASE("similar_across_runs names the first tensor in the order of the first run, and counts the others") {
    run<similar_across_runs> it{{}};
    for (char const* name : {"a", "b", "c"}) { it.see(train(0), name, {1}); }
    it.stream = 1;
    for (char const* name : {"c", "b", "a"}) { it.see(train(0), name, {name[0] == 'a' ? 1.0F : 2.0F}); }
    CHECK(it.close(train(0)) == truth::yes);
    CHECK(it.found[0].tensor == "b");
    CHECK(it.found[0].others == 1);
}

TEST_CASE("similar_across_runs: shape and type count, a sign of zero is a bit, the same NaN is the same") {
    float const a[] = {0, 1, 2, 3};
    double const d[] = {0, 1, 2, 3};
    float const minus[] = {-0.0F, 1, 2, 3};
    for (auto const& rule : {similar_across_runs{}, similar_across_runs{.atol = 0.5}}) {
        CHECK(shapes(rule, view_of(a, {2, 2}), view_of(a, {2, 2})) == truth::no);
        CHECK(shapes(rule, view_of(a, {2, 2}), view_of(a, {4})) == truth::yes);
        CHECK(shapes(rule, view_of(a, {4}), view_of(a, {3})) == truth::yes);
    }
    CHECK(shapes(similar_across_runs{}, view_of(a, {4}), view_of(minus, {4})) == truth::yes);
    CHECK(shapes(similar_across_runs{.atol = 1e-300}, view_of(a, {4}), view_of(minus, {4})) == truth::no);
    CHECK(shapes(similar_across_runs{.atol = 1}, view_of(a, {4}), view_of(d, {4})) == truth::yes);
    run<similar_across_runs> exact{{}};
    CHECK(beside(exact, train(0), "w", {{nan_f, 1}, {nan_f, 1}}) == truth::no);
    CHECK(beside(exact, train(1), "w", {{nan_f, 1}, {0, 1}}) == truth::yes);
    run<similar_across_runs> near_enough{{.rtol = 0.1}};
    CHECK(beside(near_enough, train(0), "w", {{nan_f, 1}, {nan_f, 1.05F}}) == truth::no);
    CHECK(beside(near_enough, train(1), "w", {{nan_f, 1}, {1, 1}}) == truth::yes);
    CHECK(beside(near_enough, train(2), "w", {{pos_infinity_f}, {pos_infinity_f}}) == truth::no);
    CHECK(beside(near_enough, train(3), "w", {{pos_infinity_f}, {neg_infinity_f}}) == truth::yes);
}

TEST_CASE("similar_across_runs: |a - b| <= atol + rtol |b|, b of the first run, element by element") {
    run<similar_across_runs> it{{.rtol = 0.5, .atol = 1}};
    CHECK(beside(it, train(0), "w", {{10, 4}, {16, 1}}) == truth::no);  // 6 <= 1 + 5, 3 <= 1 + 2
    CHECK(beside(it, train(1), "w", {{16, 4}, {7, 1}}) == truth::no);   // 9 <= 1 + 8
    CHECK(beside(it, train(2), "w", {{7, 4}, {16, 1}}) == truth::yes);  // 9 > 1 + 3.5
    CHECK(it.found[0].detail.view() == "element 0: 16 in stream 1, 7 in stream 0");
    CHECK(beside(it, train(3), "w", {{1, 4}, {1, 0.5F}, {1, 9}}) == truth::yes);
    CHECK(it.found[0].measured == 2);
    CHECK(it.found[0].detail.view() == "element 1: 0.5 in stream 1, 4 in stream 0");
    CHECK(beside(it, train(4), "w", {{1, 4}, {1, 4}, {1, 9}}) == truth::yes);
    CHECK(it.found[0].worker == 2);
}

TEST_CASE("similar_across_runs, expect = different: fires where a tensor is the same in all") {
    run<similar_across_runs> it{{.expect = similar_across_runs::different}};
    CHECK(beside(it, train(0), "w", {{1}, {2}}) == truth::no);
    CHECK(beside(it, train(1), "w", {{1}, {1}, {2}}) == truth::no);
    CHECK(beside(it, train(2), "w", {{1}, {1}}) == truth::yes);
    CHECK(it.found[0].reason == "values are equal");
}

TEST_CASE("what one stream has alone decides nothing; of several observations in a step the first counts") {
    run<similar_across_runs> it{{}};
    CHECK(beside(it, train(0), "w", {{1}}) == truth::undecided);
    CHECK(it.covered().reason == other_run_missing);
    it.stream = 1;
    CHECK(it.step(train(1), "v", {1}) == truth::undecided);
    CHECK(it.covered().reason == "no two streams have a tensor at the same step");
    for (it.stream = 0; it.stream < 2; ++it.stream) {
        it.see(train(2), "w", {1});
        it.see(train(2), "w", {static_cast<float>(it.stream)});
    }
    CHECK(it.close(train(2)) == truth::no);
    CHECK(it.covered().judged == 1);
}

TEST_CASE("replica_divergence: three of four workers are equal: an error that names the fourth") {
    for (std::uint32_t odd = 0; odd < 4; ++odd) {
        run<replica_divergence> it{{}};
        CHECK(beside(it, train(0), "fc/w", {{1, 2}, {1, 2}, {1, 2}, {1, 2}}) == truth::no);
        for (it.stream = 0; it.stream < 4; ++it.stream) {
            it.see(train(1), "fc/w", {1, it.stream == odd ? 2.5F : 2.0F});
            it.see(train(1), "fc2/w", {1, it.stream == odd ? 2.5F : 2.0F});
        }
        CHECK(it.close(train(1)) == truth::yes);
        CHECK(it.found[0].tensor == "fc/w");
        CHECK(it.found[0].others == 1);
        CHECK(it.found[0].severity == severity::error);
        CHECK(it.found[0].worker == odd);
        CHECK(it.found[0].measured == 1);
        CHECK(std::string{it.found[0].detail.view()} == "worker " + std::to_string(odd) + " of 4");
    }
}

TEST_CASE("replica_divergence: groups of the same size, every n-th step, workers that lack a weight, other tensors") {
    run<replica_divergence> it{{}};
    CHECK(beside(it, train(0), "fc/w", {{1}, {2}, {2}, {1}}) == truth::yes);
    CHECK(it.found[0].detail.view() == "workers 1, 2 of 4");
    CHECK(beside(it, train(1), "fc/w", {{1}, {2}, {3}}) == truth::yes);
    CHECK(it.found[0].detail.view() == "workers 1, 2 of 3");
    CHECK(beside(it, train(2), "fc/w", {{1}}) == truth::undecided);
    CHECK(beside(it, train(3), "act/1", {{1}, {2}}) == truth::undecided);
    CHECK(beside(it, train(4), "fc/b", {{1}, {2}, {1}}) == truth::yes);  // a bias is a replica's, too
    CHECK(it.found[0].detail.view() == "worker 1 of 3");
    run<replica_divergence> seldom{{.every = 5}};
    for (std::uint64_t i = 0; i < 11; ++i) {
        CHECK(beside(seldom, train(i), "fc/w", {{1}, {2}}) == (i % 5 == 0 ? truth::yes : truth::undecided));
    }
    run<replica_divergence> alone{{}};
    CHECK(beside(alone, train(0), "fc/w", {{1}}) == truth::undecided);
    CHECK(alone.covered().reason == other_run_missing);
}

TEST_CASE("straggler: medians .10, .10, .14 have the score 0.714: worker 2") {
    run<straggler> it{{}};
    for (std::uint64_t i = 0; i < 60; ++i) {
        truth const answer = beside(it, train(i), "time/step", {{0.10F}, {0.10F}, {i % 7 == 3 ? 9.0F : 0.14F}});
        CHECK(answer == (i < 49 ? truth::undecided : truth::yes));
        if (i < 49) { continue; }
        CHECK(magnitude(it.found[0].measured - 0.7142857) < 1e-6);
        CHECK(it.found[0].threshold == 0.75);
        CHECK(it.found[0].worker == 2);
        CHECK(it.found[0].tensor == "time/step");
        CHECK(it.found[0].reason == "slower than the fastest worker");
        CHECK(it.found[0].detail.view() == "worker 2: median 0.14 s, worker 0: 0.1 s");
    }
}

TEST_CASE(
    "straggler: all slow down together: slower than they were; a worker that is alone or has no time is not judged") {
    run<straggler> it{{.window = 5}};
    for (std::uint64_t i = 0; i < 5; ++i) { (void)beside(it, train(i), "time/step", {{0.10F}, {0.11F}}); }
    CHECK(it.found.empty());
    for (std::uint64_t i = 5; i < 10; ++i) { (void)beside(it, train(i), "time/step", {{0.20F}, {0.21F}}); }
    REQUIRE(it.found.size() == 1);
    CHECK(it.found[0].reason == "slower than it was");
    CHECK(it.found[0].worker == 0);
    CHECK(it.found[0].detail.view() == "worker 0: median 0.2 s, before 0.1 s; 1 more are slow");
    CHECK(beside(it, train(10), "time/step", {{0.20F}, {nan_f}}) == truth::undecided);
    CHECK(beside(it, eval(0), "time/step", {{9}, {1}}) == truth::undecided);
    run<straggler> alone{{.window = 3}};
    for (std::uint64_t i = 0; i < 5; ++i) {
        CHECK(beside(alone, train(i), "time/step", {{i < 3 ? 0.1F : 0.9F}}) == truth::undecided);
    }
    CHECK(alone.covered().reason == other_run_missing);
}
