// SPDX-License-Identifier: Apache-2.0
// update_direction: each example of the catalogue, exactly.
#include <tests/rule/descent.hpp>

#include <tests/catch.hpp>

#include <algorithm>

using namespace spotter;
using namespace stage;

namespace {

constexpr bool ascends() {
    run it{update_direction{.warmup = 0, .window = 2}};
    it.declare({.name = "fc/w", .role = role::weight, .type = dtype::f32, .shape = {1, 2}});
    it.declare({.name = "grad/fc/w", .role = role::gradient, .partner = 0, .type = dtype::f32, .shape = {1, 2}});
    truth answer = truth::undecided;
    for (std::uint64_t i = 0; i < 3; ++i) {
        it.see(train(i), "fc/w", {static_cast<float>(i), 1});
        answer = it.step(train(i), "grad/fc/w", {1, 0});
    }
    return answer == truth::yes;
}
static_assert(ascends());

// Weights of {1, 2} and their gradients. The names live as long as the run.
template <class Run>
void declare_pairs(Run& it, std::vector<std::string> const& names, std::vector<std::string> const& gradients) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto const id = static_cast<tensor_id>(2 * i);
        it.declare({.name = names[i], .role = role::weight, .type = dtype::f32, .shape = {1, 2}});
        it.declare({.name = gradients[i], .role = role::gradient, .partner = id, .type = dtype::f32, .shape = {1, 2}});
    }
}

}  // namespace

TEST_CASE("update_direction: W += 0.1 g fires at 60 with a window of 50, W -= 0.1 g never", "[update_direction]") {
    for (bool const first : {true, false}) {
        CHECK(directions({.rate = 0.1F, .weight_first = first}, 62, {.warmup = 10, .window = 50}) == indices{60, 61});
        CHECK(directions({.rate = 0.1F, .weight_first = first}, 27) == indices{25, 26});
        CHECK(directions({.rate = -0.1F, .weight_first = first}, 200).empty());
    }
    run it{update_direction{.warmup = 0, .window = 4}};
    descent net{.rate = 0.1F};
    for (std::uint64_t i = 0; i < 4; ++i) {
        net.see(it, train(i));
        CHECK(it.close(train(i)) == truth::undecided);
    }
    CHECK(it.covered().reason.starts_with("fewer than `warmup`"));
    net.see(it, train(4));
    CHECK(it.close(train(4)) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.tensor == "fc/w" && found.measured == 1 && found.threshold == 0.9));
    CHECK((found.severity == severity::error && found.reason == "the optimizer ascends"));
    CHECK(it.covered().matched == 1);
}

TEST_CASE("update_direction: of what is flagged so the gradient is minus it", "[update_direction]") {
    CHECK(directions({.rate = 0.1F, .flags = flag::negated}).empty());
    CHECK(directions({.rate = -0.1F, .flags = flag::negated}, 27) == indices{25, 26});
}

TEST_CASE("update_direction: one of two nets is judged by itself, a layer is not", "[update_direction]") {
    // Four weights, two of them ascend.
    auto const reported = [](std::vector<std::string> const& names) {
        run it{update_direction{.warmup = 0, .window = 4}};
        std::vector<std::string> gradients;
        for (std::string const& each : names) { gradients.push_back("grad/" + each); }
        for (std::size_t i = 0; i < names.size(); ++i) {
            auto const id = static_cast<tensor_id>(2 * i);
            it.declare({.name = names[i], .role = role::weight, .type = dtype::f32, .shape = {1, 2}});
            it.declare(
                {.name = gradients[i], .role = role::gradient, .partner = id, .type = dtype::f32, .shape = {1, 2}});
        }
        std::string blamed;
        for (std::uint64_t at = 0; at < 6; ++at) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                float const rate = i < 2 ? 0.1F : -0.1F;
                it.see(train(at), names[i], {1 + rate * static_cast<float>(at), 0.5F});
                it.see(train(at), gradients[i], {1, 0});
            }
            if (it.close(train(at)) == truth::yes) { blamed = it.found[0].tensor; }
        }
        return blamed;
    };
    CHECK(reported({"actor.0/w", "actor.2/w", "critic.0/w", "critic.2/w"}) == "actor.0/w");
    CHECK(reported({"actor/fc1/w", "actor/fc2/w", "critic/fc1/w", "critic/fc2/w"}) == "actor/fc1/w");
    CHECK(reported({"a_lin1.weight", "a_lin2.weight", "c_lin1.weight", "c_lin2.weight"}) == "a_lin1.weight");
    CHECK(reported({"fc_1/w", "fc_2/w", "fc_3/w", "fc_4/w"}).empty());
    CHECK(reported({"fc1/w", "fc2/w", "fc3/w", "fc4/w"}).empty());
    CHECK(reported({"net/fc1/w", "net/fc2/w", "net/fc3/w", "net/fc4/w"}).empty());
}

TEST_CASE("update_direction: a bias that climbs is heard where that is asked for, and has no vote",
          "[update_direction]") {
    for (bool const heard : {false, true}) {
        run it{update_direction{.warmup = 0, .window = 4, .hears_biases = heard}};
        it.declare({.name = "fc/w", .role = role::weight, .type = dtype::f32, .shape = {1, 2}});
        it.declare({.name = "grad/fc/w", .role = role::gradient, .partner = 0, .type = dtype::f32, .shape = {1, 2}});
        it.declare({.name = "fc/b", .role = role::bias, .type = dtype::f32, .shape = {1}});
        it.declare({.name = "grad/fc/b", .role = role::gradient, .partner = 2, .type = dtype::f32, .shape = {1}});
        std::vector<std::string> said;
        for (std::uint64_t at = 0; at < 12; ++at) {
            float const now = static_cast<float>(at);
            it.see(train(at), "fc/w", {-now, 1}), it.see(train(at), "grad/fc/w", {1, 0});
            it.see(train(at), "fc/b", {now}), it.see(train(at), "grad/fc/b", {1});
            CHECK(it.close(train(at)) != truth::yes);
            for (finding const& each : it.found) { said.emplace_back(each.tensor); }
        }
        CHECK((std::find(said.begin(), said.end(), "fc/b") != said.end()) == heard);
    }
}

TEST_CASE("update_direction: how many weights climb is testimony, given anew where it changes", "[update_direction]") {
    // Three weights; `climb` of them go along their gradients from the third step on.
    auto const testimony = [](std::size_t climb, auto const& rule) {
        run it{rule};
        std::vector<std::string> const names{"a/w", "b/w", "c/w"}, gradients{"grad/a/w", "grad/b/w", "grad/c/w"};
        declare_pairs(it, names, gradients);
        std::vector<std::string> said;
        for (std::uint64_t at = 0; at < 6; ++at) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                float const way = i < climb ? 1.0F : -1.0F;
                it.see(train(at), names[i], {way * static_cast<float>(at), 1});
                it.see(train(at), gradients[i], {1, 0});
            }
            CHECK(it.close(train(at)) == truth::undecided);  // before the window is full
            for (finding const& each : it.found) {
                said.push_back(std::to_string(at) + ' ' + std::string{each.reason} + ' ' + std::string{each.tensor});
            }
        }
        return said;
    };
    update_direction const rule{};
    CHECK(testimony(0, rule) == std::vector<std::string>{"3 no weight goes along its gradients "});
    CHECK(testimony(1, rule) == std::vector<std::string>{"3 some weights go along their gradients a/w"});
    CHECK(testimony(2, rule) == std::vector<std::string>{"3 most weights go along their gradients b/w"});
    // It is no finding: neither an adaptor nor a composite passes it on.
    CHECK(testimony(2, rule | rearm{3}).empty());
    CHECK(testimony(2, rule || update_direction{}).empty());
}

TEST_CASE("update_direction: three quarters of a hundred changes are a climb, as under momentum and noise",
          "[update_direction]") {
    // The first climbs from the start. The second goes along its gradient in `of_ten` of ten changes.
    auto const climbing = [](std::uint64_t of_ten) {
        run it{update_direction{}};
        std::vector<std::string> const names{"a/w", "b/w", "c/w", "d/w"};
        std::vector<std::string> const gradients{"grad/a/w", "grad/b/w", "grad/c/w", "grad/d/w"};
        declare_pairs(it, names, gradients);
        std::vector<std::string> said;
        std::vector<float> place(names.size(), 0.0F);
        for (std::uint64_t at = 0; at < 150; ++at) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                place[i] += i == 0 || (i == 1 && at % 10 < of_ten) ? 1.0F : -1.0F;
                it.see(train(at), names[i], {place[i], 1});
                it.see(train(at), gradients[i], {1, 0});
            }
            static_cast<void>(it.close(train(at)));
            for (finding const& each : it.found) {
                said.push_back(std::to_string(at) + ' ' + std::to_string(static_cast<int>(each.measured)));
            }
        }
        return said;
    };
    CHECK(climbing(0) == std::vector<std::string>{"3 1"});
    std::vector<std::string> const two = climbing(8);
    REQUIRE(!two.empty());
    CHECK(two.back() == "100 2");  // given anew, since more climb than before
    CHECK((climbing(7).back().ends_with(" 1")));
}

TEST_CASE("update_direction: nine in ten are enough, and the gradient of the earlier observation counts",
          "[update_direction]") {
    auto const with_down = [](std::uint64_t down) {  // of each ten changes
        descent net;
        return fired(update_direction{.warmup = 0, .window = 10}, 12, [&](auto& it, step_id at) {
            net.rate = at.index % 10 < down ? -0.1F : 0.1F;
            net.see(it, at);
        });
    };
    CHECK(with_down(1) == indices{10, 11});
    CHECK(with_down(2).empty());
    // One window in which nine of ten changes go along is an accident where most of all did not.
    auto const up_from_to = [](std::uint64_t begin, std::uint64_t end, std::uint64_t steps) {
        descent net;
        return fired(update_direction{}, steps, [&](auto& it, step_id at) {
            net.rate = at.index >= begin && at.index < end ? 0.1F : -0.1F;
            net.see(it, at);
        });
    };
    indices const late = directions({.rate = 0.1F}, 3000, {.warmup = 1500});
    CHECK((late.front() == 1520 && late.size() == 1480));  // a long warm-up holds, though older changes count half
    CHECK(up_from_to(100, 150, 400).empty());
    CHECK(up_from_to(100, 400, 400).front() == 201);     // most of all
    CHECK(up_from_to(4000, 5000, 5000).front() < 4800);  // also of a long training
    // Gradients that turn around at each step: held against the later one, the weight would seem to climb.
    auto const turning = [](bool after_update, bool weight_first) {
        std::vector<double> weight{0};
        return fired(update_direction{.warmup = 0, .window = 4, .after_update = after_update}, 6,
                     [&](auto& it, step_id at) {
                         if (at.index == 0) { descent{}.declare(it); }
                         std::vector<double> const gradient{at.index % 2 == 0 ? 1.0 : -1.0};
                         auto const see_weight = [&] { it.see(at, "fc/w", view_of(weight.data(), {1, 1})); };
                         if (weight_first) { see_weight(); }
                         it.see(at, "grad/fc/w", view_of(gradient.data(), {1, 1}));
                         if (!weight_first) { see_weight(); }
                         weight[0] -= 0.1 * gradient[0];
                     });
    };
    CHECK(turning(false, true).empty());
    CHECK(turning(false, false).empty());
    CHECK(turning(true, false) == indices{4, 5});
    CHECK(turning(true, true).empty());
}

TEST_CASE("update_direction: a loop that shows after its update, with a rate at which it swings, does not ascend",
          "[update_direction]") {
    // The loss is x squared. With this rate each step lands beyond the minimum, so gradients turn around.
    auto const swings = [](double rate, double sign, bool after, bool weight_first) {
        std::vector<double> weight{1};
        return fired(update_direction{.warmup = 0, .window = 4}, 12, [&](auto& it, step_id at) {
            if (at.index == 0) { descent{}.declare(it); }
            std::vector<double> const gradient{2 * weight[0]};
            if (after) { weight[0] -= sign * rate * gradient[0]; }
            auto const see_weight = [&] { it.see(at, "fc/w", view_of(weight.data(), {1, 1})); };
            if (weight_first) { see_weight(); }
            it.see(at, "grad/fc/w", view_of(gradient.data(), {1, 1}));
            if (!weight_first) { see_weight(); }
            if (!after) { weight[0] -= sign * rate * gradient[0]; }
        });
    };
    for (bool const weight_first : {true, false}) {
        INFO(weight_first);
        CHECK(swings(0.9, 1, true, weight_first) == indices{});
        CHECK(swings(0.9, 1, false, weight_first).empty());
        CHECK(swings(0.9, -1, true, weight_first) == indices{4, 5, 6, 7, 8, 9, 10, 11});
        CHECK(swings(0.9, -1, false, weight_first) == indices{4, 5, 6, 7, 8, 9, 10, 11});
    }
}

TEST_CASE("update_direction: more than half of the weights of a step have to ascend", "[update_direction]") {
    struct layer {
        char const *weight, *gradient;
    };
    auto const ascending = [](std::size_t weights, std::size_t up) {
        constexpr layer layers[] = {{"a/w", "grad/a/w"}, {"b/w", "grad/b/w"}, {"c/w", "grad/c/w"}};
        run it{update_direction{.warmup = 0, .window = 2}};
        std::vector<std::uint64_t> yes;
        for (std::uint64_t i = 0; i < 5; ++i) {
            for (std::size_t k = 0; k < weights; ++k) {
                float const way = k < up ? 1.0F : -1.0F;
                it.see(train(i), layers[k].weight, {way * static_cast<float>(i), 1});
                it.see(train(i), layers[k].gradient, {1, 0});
            }
            if (it.close(train(i)) == truth::yes) { yes.push_back(i); }
        }
        return yes;
    };
    CHECK(ascending(1, 1) == indices{2, 3, 4});
    CHECK(ascending(2, 1).empty());
    CHECK(ascending(3, 1).empty());
    CHECK(ascending(3, 2) == indices{2, 3, 4});
}

TEST_CASE("update_direction: what is no change is left out", "[update_direction]") {
    run it{update_direction{.warmup = 0, .window = 4}};
    descent net{.rate = 0.1F};
    std::uint64_t i = 0;
    auto const go = [&] {
        net.see(it, train(i));
        return it.close(train(i++));
    };
    CHECK(go() == truth::undecided);
    net.weight[0] = static_cast<double>(nan_f);
    CHECK(go() == truth::undecided);
    net.weight = {0.5, 0.5};
    CHECK(go() == truth::undecided);  // from a NaN
    CHECK(go() == truth::undecided);  // the first change
    net.see(it, eval(0));
    CHECK(it.close(eval(0)) == truth::undecided);
    i = 1;  // a rewind
    CHECK(go() == truth::undecided);
    net.rate = 0;                     // from here on nothing moves
    CHECK(go() == truth::undecided);  // the second change
    net.rate = 0.1F;
    CHECK(go() == truth::undecided);
    net.see(it, train(i));            // twice in the step
    CHECK(go() == truth::undecided);  // the third change
    CHECK(go() == truth::yes);
    it.see(train(i), "fc/w", view_of(net.weight.data(), {1, 2}));  // without its gradient
    CHECK(it.close(train(i)) == truth::yes);
    ++i;
    CHECK(go() == truth::undecided);
    run frozen{update_direction{}};
    frozen.declare({.name = "fc/w", .role = role::weight, .flags = flag::frozen, .type = dtype::f32, .shape = {1, 2}});
    CHECK(frozen.covered().matched == 0);
}

TEST_CASE("update_direction: floats are kept exactly, and layouts must agree", "[update_direction]") {
    auto const seen = [](order of_gradient) {
        run it{update_direction{.warmup = 0, .window = 2}};
        descent{}.declare(it);
        float weight[] = {1, 1, 1, 1};
        float const gradient[] = {0, 1, -1, 0};
        truth answer = truth::undecided;
        for (std::uint64_t i = 0; i < 3; ++i) {
            it.see(train(i), "fc/w", view_of(weight, {2, 2}));
            it.see(train(i), "grad/fc/w", view_of(gradient, {2, 2}, of_gradient));
            answer = it.close(train(i));
            weight[1] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight[1]) + 1);  // one ulp
        }
        return answer;
    };
    CHECK(seen(order::row_major) == truth::yes);
    CHECK(seen(order::column_major) == truth::undecided);
}

TEST_CASE("an eighth of a large tensor is every place of 128 elements as often, and a small one is all there") {
    std::vector<std::uint16_t> large(300 * 1000), small(16384);
    for (std::size_t i = 0; i < large.size(); ++i) { large[i] = static_cast<std::uint16_t>(i % 128); }
    sampled_lines sampled;
    tensor_ref const all = sampled.take(view_of(small.data(), {128, 128}));
    CHECK((all.values.raw == small.data() && all.count == small.size() && all.shape.rank == 2));
    tensor_ref const taken = sampled.take(view_of(large.data(), {300, 1000}));
    REQUIRE((taken.type == dtype::u16 && taken.count == large.size() / 128 * 16));
    CHECK(taken.count == sampled_lines::size_of_sample(large.size()));
    std::vector<std::size_t> met(128), columns(1000);
    for (std::size_t i = 0; i < taken.count; ++i) {
        std::size_t const at = sampled_lines::place(i / 16) + i % 16;
        REQUIRE((at < large.size() && taken.values.u16[i] == large[at]));
        ++met[at % 128];
        ++columns[at % 1000];
    }
    CHECK(*std::min_element(met.begin(), met.end()) >= 288);  // of 293
    CHECK(*std::max_element(met.begin(), met.end()) <= 298);
    CHECK(*std::min_element(columns.begin(), columns.end()) > 0);
    CHECK(sampled_lines::place(16384 / 128) + 16 <= 16384 + 128);
}

TEST_CASE("update_direction: of a large weight an eighth tells the same", "[update_direction]") {
    // A table of 500 rows; three of them learn at each step, as an embedding's do.
    auto const reported = [](float rate, std::size_t rows, std::size_t bad_at = ~std::size_t{0}) {
        constexpr std::size_t columns = 160;
        std::vector<float> weight(rows * columns, 0.5F), gradient(weight.size());
        return fired(update_direction{.warmup = 0, .window = 4}, 8, [&](auto& it, step_id at) {
            extents const shape{rows, columns};
            if (at.index == 0) {
                it.declare({.name = "e/w", .role = role::weight, .type = dtype::f32, .shape = shape});
                it.declare(
                    {.name = "grad/e/w", .role = role::gradient, .partner = 0, .type = dtype::f32, .shape = shape});
            }
            std::fill(gradient.begin(), gradient.end(), 0.0F);
            for (std::size_t i = 0; i < 3 * columns; ++i) {
                gradient[(at.index * 98 + i) % gradient.size()] = i % 2 == 0 ? 1.0F : -0.5F;
            }
            std::vector<float> seen = weight;
            if (at.index == 2 && bad_at < seen.size()) { seen[bad_at] = nan_f; }
            it.see(at, "e/w", view_of(seen.data(), shape));
            it.see(at, "grad/e/w", view_of(gradient.data(), shape));
            for (std::size_t i = 0; i < weight.size(); ++i) { weight[i] += rate * gradient[i]; }
        });
    };
    for (std::size_t const rows : {100U, 500U}) {
        CHECK(reported(0.1F, rows) == indices{4, 5, 6, 7});
        CHECK(reported(-0.1F, rows).empty());
    }
    // What is not finite is no change, in the sample or beside it: neither to it nor from it.
    std::size_t const inside = sampled_lines::place(0), beside = inside == 0 ? 16 : 0;
    CHECK(reported(0.1F, 500, inside) == indices{6, 7});
    CHECK(reported(0.1F, 500, beside) == indices{6, 7});
}
