// SPDX-License-Identifier: Apache-2.0
// Rules on what stays the same though it should not: each example of the catalogue, exactly.
#include <spotter/rule/builtin/bf16_stall.hpp>
#include <spotter/rule/builtin/constant_batch.hpp>
#include <spotter/rule/builtin/dead_update_path.hpp>
#include <spotter/rule/builtin/identity_activation.hpp>
#include <spotter/rule/builtin/unchanged_tensor.hpp>
#include <tests/rule/features.hpp>
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <cmath>

using namespace spotter;
using namespace stage;

namespace {

constexpr truth third_answer(unchanged_tensor const& rule, float third) {
    run it{rule};
    (void)it.step(train(0), "loss", {1});
    (void)it.step(train(1), "loss", {1});
    return it.step(train(2), "loss", {third});
}
static_assert(third_answer(unchanged_tensor::sagemaker_defaults(), 1 + 1e-6F) == truth::yes);
static_assert(third_answer(unchanged_tensor::sagemaker_defaults(), 1.001F) == truth::no);

// The weight and its gradient at a step.
template <class Run>
truth sight(Run& it, step_id at, float weight, float gradient) {
    it.see(at, "fc/w", {weight, weight});
    it.see(at, "grad/fc/w", {gradient, 0});
    return it.close(at);
}

tensor_info info_of(tensor_id id, std::string_view name, role what, dtype type, tensor_id partner) {
    tensor_info info;
    info.id = id, info.name = name, info.role = what, info.type = type, info.partner = partner;
    info.shape = {1, 4};
    return info;
}

// A 16-bit weight of four ones and its gradient, fed as a hook would: the change is taken against a kept copy.
class small_weight {
public:
    explicit small_weight(dtype type = dtype::bf16, bf16_stall const& rule = {})
        : machine_{rule}, weight_{info_of(0, "fc/w", role::weight, type, 1)},
          gradient_{info_of(1, "grad/fc/w", role::gradient, dtype::f32, 0)} {
        wanted = machine_.declare(weight_).mask;
        (void)machine_.declare(gradient_);
    }
    void see(std::uint64_t index, std::array<std::uint16_t, 4> const& bits) {
        std::array<bf16, 4> now{};
        for (std::size_t i = 0; i < 4; ++i) { now[i].bits = bits[i]; }
        summary stats;
        stats.count = 4;
        if (known_) {
            compare_with_previous(view_of(now.data(), {1, 4}), view_of(before_.data(), {1, 4}), index_, stats);
        }
        stats.has |= stats_mask::change;
        machine_.observe({weight_, train(index), stats});
        before_ = now, index_ = index, known_ = true;
    }
    void see_gradient(std::uint64_t index, std::vector<float> const& values) {
        tensor_ref const view = view_of(values.data(), {1, 4});
        machine_.observe({gradient_, train(index), summarize(view, step_gradients::needs), view});
    }
    truth close(std::uint64_t index) {
        found.clear();
        return machine_.close(train(index), found);
    }
    truth step(std::uint64_t index, std::array<std::uint16_t, 4> const& bits, std::vector<float> const& gradient) {
        see(index, bits);
        see_gradient(index, gradient);
        return close(index);
    }

    stats_mask wanted{};
    findings found;

private:
    machine<bf16_stall> machine_;
    tensor_info weight_, gradient_;
    std::array<bf16, 4> before_{};
    std::uint64_t index_ = 0;
    bool known_ = false;
};

constexpr std::uint16_t one = 0x3F80;  // 1 as bf16

// Four ones less a thousandth, rounded to bf16: ones.
std::array<std::uint16_t, 4> updated_ones() {
    float const exact = 1.0F - 1e-3F;
    auto const bits = std::bit_cast<std::uint32_t>(exact);
    auto const rounded = static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
    return {rounded, rounded, rounded, rounded};
}

}  // namespace

TEST_CASE("unchanged_tensor: identical at 0, 1, 2 fires at 2, seen once never", "[unchanged_tensor]") {
    CHECK(fired(unchanged_tensor{}, 4, "loss", {0.5F}) == indices{2, 3});
    CHECK(fired(unchanged_tensor::sagemaker_defaults(), 4, "loss", {0.5F}) == indices{2, 3});
    run it{unchanged_tensor{}};
    CHECK(it.step(train(0), "pred", {1, 2}) == truth::undecided);
    CHECK(it.step(train(1), "pred", {1, 2}) == truth::undecided);
    CHECK(it.step(train(2), "pred", {1, 2}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.rule == "unchanged_tensor" && found.tensor == "pred" && found.measured == 3 && found.threshold == 3));
    CHECK((found.severity == severity::warning && found.reason == "values are the same, bit by bit"));
    CHECK(found.remedy == "Check that the tensor is meant to be constant; otherwise look at its producer.");
    CHECK(it.step(train(3), "pred", {1, 2}) == truth::yes);
    CHECK(it.found[0].measured == 4);
    CHECK(it.step(train(4), "pred", {1, 3}) == truth::no);
    CHECK(it.step(train(5), "pred", {1, 3}) == truth::no);
    CHECK(it.step(train(6), "pred", {1, 3}) == truth::yes);
    run lone{unchanged_tensor{}};
    CHECK(lone.step(train(5), "loss", {1}) == truth::undecided);
    CHECK(lone.close(train(6)) == truth::undecided);
    CHECK(lone.covered().reason == "fewer than `num_steps` observations of a tensor");
    CHECK(fired(unchanged_tensor{}, 9, "grad/w", {1}).empty());  // not watched
}

TEST_CASE("unchanged_tensor: 1, 1, 1 + 1e-6 is silent by bits, and fires within AWS's tolerance",
          "[unchanged_tensor]") {
    CHECK(third_answer(unchanged_tensor{}, 1) == truth::yes);
    CHECK(third_answer(unchanged_tensor{}, 1 + 1e-6F) == truth::no);
    run it{unchanged_tensor::sagemaker_defaults()};
    // All pairs count: each step is within the tolerance of the last one, the third not of the first.
    CHECK(it.step(train(0), "loss", {1}) == truth::undecided);
    CHECK(it.step(train(1), "loss", {1 + 7e-6F}) == truth::undecided);
    CHECK(it.step(train(2), "loss", {1 + 14e-6F}) == truth::no);
    CHECK(it.step(train(3), "loss", {1 + 14e-6F}) == truth::yes);  // 1, 2 and 3 agree
    CHECK(it.found[0].reason == "values agree within the tolerance");
    CHECK(it.step(train(4), "loss", {1 + 14e-6F}) == truth::yes);
    CHECK(it.found[0].measured == 4);
    CHECK(it.step(train(5), "loss", {2}) == truth::no);
    it.see(train(6), "loss", std::vector<float>{2, 2}, {2});
    CHECK(it.close(train(6)) == truth::no);  // another size, more than there was room for
    it.see(train(7), "loss", std::vector<float>{2, 2}, {2});
    CHECK(it.close(train(7)) == truth::no);
    it.see(train(8), "loss", std::vector<float>{2, 2}, {2});
    CHECK(it.close(train(8)) == truth::yes);
}

TEST_CASE("unchanged_tensor: a NaN equals nothing unless it may, and infinities are equal", "[unchanged_tensor]") {
    auto tolerant = unchanged_tensor::sagemaker_defaults();
    CHECK(fired(unchanged_tensor{}, 5, "loss", {nan_f}).empty());
    CHECK(fired(tolerant, 5, "loss", {nan_f}).empty());
    CHECK(fired(unchanged_tensor{.equal_nan = true}, 4, "loss", {nan_f}) == indices{2, 3});
    tolerant.equal_nan = true;
    CHECK(fired(tolerant, 4, "loss", {nan_f}) == indices{2, 3});
    CHECK(fired(tolerant, 4, "loss", {pos_infinity_f}) == indices{2, 3});
    run it{tolerant};
    for (std::uint64_t i = 0; i < 2; ++i) { (void)it.step(train(i), "loss", {pos_infinity_f}); }
    CHECK(it.step(train(2), "loss", {neg_infinity_f}) == truth::no);
    CHECK(it.step(train(3), "loss", {1}) == truth::no);
}

TEST_CASE("unchanged_tensor counts a step once, in train steps, and softens once training has settled",
          "[unchanged_tensor]") {
    auto const twice = [](unchanged_tensor const& rule) {
        return fired(rule, 4, [](auto& it, step_id at) {
            it.see(at, "loss", {1});
            it.see(at, "loss", {1});
        });
    };
    CHECK(twice({}) == indices{2, 3});
    CHECK(twice(unchanged_tensor::sagemaker_defaults()) == indices{2, 3});
    for (auto const& rule : {unchanged_tensor{}, unchanged_tensor::sagemaker_defaults()}) {
        run it{rule};
        for (std::uint64_t i = 0; i < 2; ++i) { (void)it.step(train(i), "loss", {1}); }
        CHECK(it.step(eval(0), "loss", {1}) == truth::undecided);
        CHECK(it.close(train(2)) == truth::undecided);
        it.see(train(3), "loss", std::vector<float>{}, {0});
        CHECK(it.close(train(3)) == truth::undecided);
        CHECK(it.step(train(1), "loss", {1}) == truth::yes);  // after a rewind
    }
    run settled{unchanged_tensor{}};
    for (std::uint64_t i = 0; i < 200; ++i) {
        settled.see(train(i), "loss", {i < 10 ? 4.0F : 0.1F});
        truth const answer = settled.close(train(i));
        if (i > 60) { CHECK((answer == truth::yes && settled.found[0].severity == severity::info)); }
        if (i == 5) { CHECK((answer == truth::yes && settled.found[0].severity == severity::warning)); }
    }
}

TEST_CASE("unchanged_tensor: a replay of the features answers alike", "[unchanged_tensor][feature]") {
    std::vector<std::vector<float>> const steps{{1, 2}, {1, 2}, {1, 2.00001F}, {1, 2}, {3, 4},
                                                {3, 4}, {3, 4}, {3},           {3}};
    CHECK(judges_without_values(unchanged_tensor::sagemaker_defaults(), "loss", steps));
    CHECK(unchanged_tensor::sagemaker_defaults().feature_key() != unchanged_tensor{.rtol = 1e-4}.feature_key());
}

TEST_CASE("dead_update_path: same bits at 0 to 3 under a gradient fire at 3, one ulp does not", "[dead_update_path]") {
    run it{dead_update_path{}};
    CHECK(sight(it, train(0), 1, 0.5F) == truth::no);  // that the gradient is there is decided
    CHECK(sight(it, train(1), 1, 0.5F) == truth::no);
    CHECK(sight(it, train(2), 1, 0.5F) == truth::no);
    CHECK(sight(it, train(3), 1, 0.5F) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.reason == "updates do not change it" && found.tensor == "fc/w" && found.measured == 3 &&
           found.threshold == 3));
    CHECK(found.severity == severity::warning);
    CHECK(found.remedy == "Check that the optimizer holds this parameter, that step is called, and that it subtracts.");
    CHECK(sight(it, train(4), std::nextafter(1.0F, 2.0F), 0.5F) == truth::no);
    float weight = 1;
    CHECK(fired(dead_update_path{}, 9, [&](auto& run, step_id at) {
              run.see(at, "fc/w", {weight = std::nextafter(weight, 2.0F)});
              run.see(at, "grad/fc/w", {1});
          }).empty());
    run frozen{dead_update_path{}};
    frozen.declare({.name = "fc/w", .role = role::weight, .flags = flag::frozen, .type = dtype::f32, .shape = {1, 2}});
    for (std::uint64_t i = 0; i < 5; ++i) { CHECK(sight(frozen, train(i), 1, 0.5F) == truth::undecided); }
    CHECK(frozen.covered().matched == 0);
    // A bias, its gradient seen before it, each twice a step.
    CHECK(fired(dead_update_path{}, 5, [](auto& run, step_id at) {
              for (int i = 0; i < 2; ++i) {
                  run.see(at, "grad/fc/b", {1});
                  run.see(at, "fc/b", {2});
              }
          }) == indices{3, 4});
}

TEST_CASE("dead_update_path: a parameter that moved before may rest for 100 changes", "[dead_update_path]") {
    auto const moves_until_4 = [](auto& it, step_id at) {
        it.see(at, "fc/b", {static_cast<float>(at.index < 4 ? at.index : 4)});
        it.see(at, "grad/fc/b", {1});
    };
    CHECK(fired(dead_update_path{.rested = 3}, 9, moves_until_4) == indices{7, 8});
    CHECK(fired(dead_update_path{}, 106, moves_until_4) == indices{104, 105});
}

TEST_CASE("dead_update_path: a weight that has its first values again, for the third time", "[dead_update_path]") {
    auto const set_back_every = [](std::uint64_t steps, char const* name) {
        return [=](auto& it, step_id at) { it.see(at, name, {static_cast<float>(at.index % steps), 7}, {1, 2}); };
    };
    CHECK(fired(dead_update_path{}, 30, set_back_every(6, "fc/w")) == indices{18, 24});
    CHECK(fired(dead_update_path{.returns = 1}, 13, set_back_every(6, "fc/w")) == indices{6, 12});
    CHECK(fired(dead_update_path{}, 30, set_back_every(5, "fc/w")).empty());  // it goes to and fro
    CHECK(fired(dead_update_path{}, 30, set_back_every(6, "fc/b")).empty());
    CHECK(fired(dead_update_path{}, 30,
                [](auto& it, step_id at) {  // it has other values first
                    it.see(at, "fc/w", {static_cast<float>(at.index == 0 ? 9 : at.index % 6), 7}, {1, 2});
                })
              .empty());
    run it{dead_update_path{}};
    auto const sees = [&](std::uint64_t index) {
        it.see(train(index), "fc/w", {static_cast<float>(index % 6), 7}, {1, 2});
        return it.close(train(index));
    };
    // Each epoch begins with step 0 and the first values, as training anew does.
    for (int epoch = 0; epoch < 5; ++epoch) {
        for (std::uint64_t i = 0; i < 6; ++i) { CHECK(sees(i) != truth::yes); }
    }
    for (std::uint64_t i = 6; i < 19; ++i) { CHECK((sees(i) == truth::yes) == (i == 18)); }
    REQUIRE(it.found.size() == 1);
    CHECK(it.found[0].is<dead_update_path>(dead_update_path::undone));
    CHECK((it.found[0].measured == 3 && it.found[0].reason == "it has its first values again"));
}

TEST_CASE("dead_update_path: what is not finite, not there or undone leaves the streak", "[dead_update_path]") {
    run it{dead_update_path{}};
    CHECK(sight(it, train(0), 1, 0.5F) == truth::no);
    CHECK(sight(it, train(1), 1, nan_f) == truth::no);
    CHECK(sight(it, train(2), 1, 0.5F) == truth::no);  // the step from 1 to 2 was skipped
    CHECK(it.close(train(3)) == truth::undecided);
    CHECK(it.step(eval(0), "fc/w", {7, 7}) == truth::undecided);
    CHECK(sight(it, train(4), 1, 0.5F) == truth::no);
    CHECK(sight(it, train(2), 1, 0.5F) == truth::no);  // rewound: not compared
    CHECK(sight(it, train(3), 1, 0.5F) == truth::yes);
    CHECK(sight(it, train(4), nan_f, 0.5F) == truth::no);
    CHECK(sight(it, train(5), 1, 0.5F) == truth::no);  // from a NaN is no change
    CHECK(sight(it, train(6), 1, 0.5F) == truth::yes);
    CHECK(it.found[0].measured == 4);
}

TEST_CASE("dead_update_path: with accumulation a change is due every period sights", "[dead_update_path]") {
    auto const at_fourths = [](std::uint64_t moved_every) {
        return fired(dead_update_path{.period = 4}, 26, [=](auto& it, step_id at) {
            float const weight = moved_every == 0 ? 1.0F : 1.0F + static_cast<float>(at.index / moved_every);
            it.see(at, "fc/w", {weight});
            it.see(at, "grad/fc/w", {at.index % 4 == 3 ? 0.0F : 1.0F});
        });
    };
    CHECK(at_fourths(4).empty());
    CHECK(at_fourths(0) == indices{12, 16, 20, 24});
    CHECK_FALSE(fired(dead_update_path{}, 8, [](auto& it, step_id at) {
                    it.see(at, "fc/w", {at.index < 4 ? 1.0F : 2.0F});
                    it.see(at, "grad/fc/w", {1});
                }).empty());
}

TEST_CASE("dead_update_path: a gradient far below that of its layer is rounding noise, and moves nothing",
          "[dead_update_path]") {
    // A layer's weight that moves, and another parameter that does not, under a gradient of that size.
    auto const rests = [](std::string const& weight, std::string const& other, float size) {
        std::string const of_weight = "grad/" + weight, of_other = "grad/" + other;
        return fired(dead_update_path{}, 30, [&](auto& it, step_id at) {
            it.see(at, weight, {static_cast<float>(at.index)});
            it.see(at, other, {1});
            it.see(at, of_weight, {0.01F});
            it.see(at, of_other, {at.index % 2 == 0 ? size : -size});
        });
    };
    for (auto const& [weight, other] : std::initializer_list<std::array<char const*, 2>>{
             {"fc1/w", "fc1/b"}, {"net.conv1.weight", "net.conv1.bias"}}) {
        INFO(other);
        CHECK(rests(weight, other, 1e-9F).empty());
        CHECK(rests(weight, other, 9e-9F).empty());  // times 0.01
        CHECK(rests(weight, other, 1.1e-8F).front() == 3);
        CHECK(rests(weight, other, 1e-4F).front() == 3);
        CHECK(rests(weight, other, 0).front() == 19);  // none at all is no noise
    }
    // Noise now and then is above the limit.
    CHECK(fired(dead_update_path{}, 30, [](auto& it, step_id at) {
              it.see(at, "fc/w", {static_cast<float>(at.index)});
              it.see(at, "fc/b", {1});
              it.see(at, "grad/fc/w", {0.01F});
              it.see(at, "grad/fc/b", {at.index % 3 == 0 ? 1e-9F : 2e-8F});
          }).empty());
    CHECK(rests("fc2/w", "fc1/b", 1e-9F).front() == 3);  // of another layer, which may be far from the loss
    CHECK(detail::layer_of_parameter("fc1/b") == "fc1");
    CHECK((detail::layer_of_parameter("net.0.bias") == "net.0" && detail::layer_of_parameter("fc1_b") == "fc1"));
    CHECK((detail::layer_of_parameter("b12") == "12" && detail::layer_of_parameter("b").empty()));
}

TEST_CASE("dead_update_path: no gradient while another has one fires after never_trained steps", "[dead_update_path]") {
    auto const with = [](bool zero, float others) {
        return fired(dead_update_path{}, 22, [=](auto& it, step_id at) {
            it.see(at, "a/w", {static_cast<float>(at.index)});
            it.see(at, "b/w", {1});
            it.see(at, "grad/a/w", {others});
            if (zero || at.index == 0) { it.see(at, "grad/b/w", {zero ? 0.0F : 1.0F}); }
        });
    };
    CHECK(with(true, 1) == indices{19, 20, 21});
    CHECK(with(false, 1) == indices{20, 21});  // absent from 1 on
    CHECK(with(true, 0).empty());
    run it{dead_update_path{.never_trained = 1}};
    it.see(train(0), "a/w", {1});
    it.see(train(0), "b/w", {1});
    it.see(train(0), "grad/a/w", {1});
    it.see(train(0), "grad/b/w", {0, -0.0F});
    CHECK(it.close(train(0)) == truth::yes);
    CHECK((it.found.size() == 1 && it.found[0].reason == "no gradient arrives" && it.found[0].tensor == "b/w"));
    CHECK(it.found[0].remedy.find("backward pass") != std::string_view::npos);
}

TEST_CASE("dead_update_path: of two nets that are trained in turn one is never trained", "[dead_update_path]") {
    auto const in_turn = [](bool shows_gradient, bool others_move) {
        return fired(dead_update_path{}, 50, [=](auto& it, step_id at) {
            if (at.index % 2 == 0) {
                it.see(at, "a/w", {others_move ? static_cast<float>(at.index) : 1});
                it.see(at, "grad/a/w", {others_move ? 1.0F : 0.0F});
                return;
            }
            it.see(at, "b/w", {1});
            if (shows_gradient) { it.see(at, "grad/b/w", {0}); }
        });
    };
    CHECK(in_turn(true, true) == indices{39, 41, 43, 45, 47, 49});
    CHECK(in_turn(false, true) == indices{41, 43, 45, 47, 49});
    CHECK(in_turn(true, false).empty());
    CHECK(in_turn(false, false).empty());
}

TEST_CASE("dead_update_path: a weight with next to no gradient beside those of others", "[dead_update_path]") {
    // Both move. `faint` is the gradient of the second; `often` of 10 steps have it, the others 0.01 as the first.
    auto const with = [](std::string const& name, float faint, std::uint64_t often = 10) {
        std::string const gradient = "grad/" + name;
        return fired(dead_update_path{}, 22, [&](auto& it, step_id at) {
            it.see(at, "a/w", {static_cast<float>(at.index), 1});
            it.see(at, name, {1, static_cast<float>(at.index)});
            it.see(at, "grad/a/w", {0.01F, -0.01F});
            float const size = at.index % 10 < often ? faint : 0.01F;
            it.see(at, gradient, {size, -size});
        });
    };
    CHECK(with("b/w", 9e-11F) == indices{19, 20, 21});
    CHECK(with("b/w", 1.1e-10F).empty());
    CHECK(with("b/w", 9e-11F, 9).empty());
    CHECK(with("b/b", 9e-11F).empty());  // before a batch normalisation a bias has rounding errors alone
    CHECK(fired(dead_update_path{}, 30,
                [](auto& it, step_id at) {  // small only beside a large one
                    it.see(at, "a/w", {static_cast<float>(at.index)}), it.see(at, "grad/a/w", {1e4F});
                    it.see(at, "b/w", {static_cast<float>(at.index)}), it.see(at, "grad/b/w", {5e-5F});
                })
              .empty());
    run it{dead_update_path{.never_trained = 1}};
    it.see(train(0), "a/w", {1});
    it.see(train(0), "b/w", {1});
    it.see(train(0), "grad/a/w", {1});
    it.see(train(0), "grad/b/w", {-1e-9F});
    CHECK(it.close(train(0)) == truth::yes);
    CHECK((it.found.size() == 1 && it.found[0].reason == "next to no gradient" && it.found[0].tensor == "b/w"));
    CHECK(it.found[0].is<dead_update_path>(dead_update_path::no_gradient));
}

TEST_CASE("dead_update_path: a parameter without a gradient that has moved before is in the optimizer",
          "[dead_update_path]") {
    run it{dead_update_path{}};
    for (std::uint64_t i = 0; i <= 105; ++i) {
        CHECK(it.found.empty());
        it.see(train(i), "a/w", {static_cast<float>(i)});
        it.see(train(i), "b/w", {static_cast<float>(i < 5 ? i : 5)});
        it.see(train(i), "c/b", {static_cast<float>(i < 5 ? i : 5)});  // a bias may have converged
        it.close(train(i));
    }
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].reason == "updates no longer change it" && it.found[0].tensor == "b/w"));
    CHECK(it.found[0].others == 0);
    CHECK(it.found[0].is<dead_update_path>(dead_update_path::came_to_rest));
}

TEST_CASE("dead_update_path: a parameter without a gradient that stays while another moves is not in the optimizer",
          "[dead_update_path]") {
    run it{dead_update_path{}};
    truth answer = truth::undecided;
    for (std::uint64_t i = 0; i <= 20; ++i) {
        CHECK(answer != truth::yes);
        it.see(train(i), "a/w", {static_cast<float>(i)});
        it.see(train(i), "b/w", {1});
        it.see(train(i), "c/b", {1});
        answer = it.close(train(i));
    }
    CHECK(answer == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].reason == "it never changes" && it.found[0].tensor == "b/w" && it.found[0].others == 1));
    CHECK((it.found[0].measured == 20 && it.found[0].threshold == 20));
    run still{dead_update_path{}};  // nobody moves: a loop that evaluates
    for (std::uint64_t i = 0; i < 40; ++i) {
        still.see(train(i), "a/w", {1});
        CHECK(still.step(train(i), "b/w", {1}) == truth::undecided);
    }
    CHECK(still.covered().reason == "no parameter was seen in two train steps, or none with a gradient");
}

TEST_CASE("bf16_stall: ones less a thousandth stay ones in bf16, and fire at 10", "[bf16_stall]") {
    CHECK(updated_ones() == std::array<std::uint16_t, 4>{one, one, one, one});
    small_weight it;
    CHECK(has(it.wanted, stats_mask::change));
    CHECK(it.step(0, updated_ones(), {1, 1, 1, 1}) == truth::undecided);
    for (std::uint64_t i = 1; i < 10; ++i) { CHECK(it.step(i, updated_ones(), {1, 1, 1, 1}) == truth::no); }
    CHECK(it.step(10, updated_ones(), {1, 1, 1, 1}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].measured == 1 && it.found[0].threshold == 0.5 && it.found[0].tensor == "fc/w"));
    CHECK((it.found[0].severity == severity::warning && it.found[0].reason == "updates round to nothing"));
    CHECK(it.found[0].remedy == "Raise the loss scale or keep master weights in f32.");
    CHECK(it.step(11, {one - 1, one - 1, one, one}, {1, 1, 1, 1}) == truth::no);  // half of them: strict
    CHECK(small_weight{dtype::f32}.wanted == stats_mask::none);                   // not watched
    CHECK(has(small_weight{dtype::f16}.wanted, stats_mask::change));
}

TEST_CASE("bf16_stall needs a gradient at work, and the whole of a change", "[bf16_stall]") {
    bf16_stall const quick{.patience = 1};
    small_weight sparse{dtype::bf16, quick};
    (void)sparse.step(0, updated_ones(), {1, 1, 0, 0});
    CHECK(sparse.step(1, updated_ones(), {1, 1, 1, nan_f}) == truth::no);  // no more than half of the gradient
    CHECK(sparse.step(2, updated_ones(), {1, 1, 1, 1}) == truth::undecided);
    CHECK(sparse.step(1, updated_ones(), {1, 1, 1, 1}) == truth::undecided);  // rewound
    CHECK(sparse.step(2, updated_ones(), {1, 1, 1, 1}) == truth::yes);
    sparse.see(3, {one, one, 0x7FC0, one});  // a NaN has no size
    CHECK(sparse.close(3) == truth::undecided);
    CHECK(sparse.step(4, updated_ones(), {1, 1, 1, 1}) == truth::undecided);
    // Seen before and after the update of each step.
    small_weight moves{dtype::bf16, quick};
    for (std::uint16_t i = 0; i < 5; ++i) {
        auto const now = static_cast<std::uint16_t>(one + i), next = static_cast<std::uint16_t>(now + 1);
        moves.see(i, {now, now, now, now});
        moves.see_gradient(i, {1, 1, 1, 1});
        moves.see(i, {next, next, next, next});
        CHECK(moves.close(i) == truth::undecided);
    }
}

// A batch of samples with one value each.
template <class Run>
truth batch(Run& it, step_id at, std::vector<float> const& values) {
    it.see(at, "input", values, {values.size(), 1});
    return it.close(at);
}

TEST_CASE("constant_batch: the same batch fires at 3", "[constant_batch]") {
    run it{constant_batch{}};
    CHECK(batch(it, train(0), {1, 2}) == truth::undecided);
    CHECK(batch(it, train(1), {1, 2}) == truth::no);
    CHECK(batch(it, train(2), {1, 2}) == truth::no);
    CHECK(batch(it, train(3), {1, 2}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK(
        (it.found[0].reason == "same batch at every step" && it.found[0].measured == 3 && it.found[0].threshold == 3));
    CHECK((it.found[0].severity == severity::warning && it.found[0].tensor == "input"));
    CHECK(it.found[0].remedy == "Check shuffling and that the loader advances; flag full-batch training `full_batch`.");
    CHECK(batch(it, eval(0), {1, 2}) == truth::undecided);
    CHECK(batch(it, train(4), {1, 3}) == truth::no);
    run full{constant_batch{}};
    full.declare(
        {.name = "input", .role = role::input, .flags = flag::full_batch, .type = dtype::f32, .shape = {1, 2}});
    for (std::uint64_t i = 0; i < 5; ++i) { CHECK(full.step(train(i), "input", {1, 2}) == truth::undecided); }
    // Twice in a step is one batch; an empty one is none.
    CHECK(fired(constant_batch{}, 5, [](auto& run, step_id at) {
              run.see(at, "input", {static_cast<float>(at.index)});
              run.see(at, "input", {static_cast<float>(at.index)});
          }).empty());
    run empty{constant_batch{.patience = 1}};
    empty.see(train(0), "input", std::vector<float>{}, {0, 4});
    empty.see(train(1), "input", std::vector<float>{}, {0, 4});
    CHECK(empty.close(train(1)) == truth::undecided);
}

TEST_CASE("constant_batch: single samples of a small data set repeat by chance", "[constant_batch]") {
    run it{constant_batch{}};
    for (std::uint64_t i = 0; i < 10; ++i) { CHECK(it.step(train(i), "input", {1, 2}) != truth::yes); }
    CHECK(it.step(train(10), "input", {1, 2}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].severity == severity::warning && it.found[0].threshold == 10));
    run four{constant_batch{}};  // the four samples of an exclusive or, in turn
    for (std::uint64_t i = 0; i < 64; ++i) { (void)four.step(train(i), "input", {static_cast<float>(i % 4), 0}); }
    REQUIRE(four.found.size() == 1);
    CHECK((four.found[0].reason == "batches come again" && four.found[0].severity == severity::note));
}

TEST_CASE("constant_batch: a hundred samples may well be all there are", "[constant_batch]") {
    auto const level_of = [](std::uint64_t samples) {
        run it{constant_batch{}};
        std::vector<float> const values(2 * samples, 0.5F);
        for (std::uint64_t i = 0; i < 4; ++i) {
            it.see(train(i), "input", values, {samples, 2});
            (void)it.close(train(i));
        }
        REQUIRE(it.found.size() == 1);
        return it.found[0].severity;
    };
    CHECK((level_of(99) == severity::warning && level_of(100) == severity::info));
}

TEST_CASE("constant_batch: a finding has the limit and the severity of the inputs that it names", "[constant_batch]") {
    run it{constant_batch{}};
    std::vector<float> const large(200, 0.5F), small(20, 0.5F);
    for (std::uint64_t i = 0; i < 11; ++i) {
        it.see(train(i), "input/large", large, {100, 2});
        it.see(train(i), "input/single", {0.5F, 0.5F});
        it.see(train(i), "input/small", small, {10, 2});
        it.see(train(i), "input/other", small, {10, 2});
        CHECK((it.close(train(i)) == truth::yes) == (i >= 3));
        CHECK(it.found.size() == (i < 3 ? 0U : i < 10 ? 2U : 3U));
    }
    finding const& few = it.found[0];
    CHECK((few.tensor == "input/small" && few.others == 1 && few.threshold == 3 && few.measured == 10));
    finding const& single = it.found[1];
    CHECK((single.tensor == "input/single" && single.others == 0 && single.threshold == 10 && single.measured == 10));
    CHECK((few.severity == severity::warning && single.severity == severity::warning));
    finding const& all = it.found[2];
    CHECK((all.tensor == "input/large" && all.threshold == 3 && all.severity == severity::info));
}

TEST_CASE("constant_batch: batches that come again fire once the ring is full", "[constant_batch]") {
    auto const of_batches = [](std::uint64_t batches, constant_batch const& rule) {
        return fired(rule, 66, [=](auto& it, step_id at) {
            it.see(at, "input", {static_cast<float>(at.index % batches), 0}, {2, 1});
        });
    };
    CHECK(of_batches(10, {}) == indices{63, 64, 65});  // 54 of 64
    CHECK(of_batches(32, {}).empty());                 // half of them: strict
    CHECK(of_batches(31, {}) == indices{63, 64, 65});
    CHECK(of_batches(1000, {}).empty());
    run ten{constant_batch{}};
    for (std::uint64_t i = 0; i < 64; ++i) { (void)batch(ten, train(i), {static_cast<float>(i % 10), 0}); }
    REQUIRE(ten.found.size() == 1);
    CHECK(ten.found[0].measured == 54.0 / 64);
    run it{constant_batch{.patience = 9, .ring = 4}};
    for (float const each : {1.0F, 2.0F, 1.0F}) { (void)batch(it, train(0), {each, 0}); }
    CHECK(batch(it, train(0), {1, 0}) == truth::no);  // 1 2 1 1: half
    CHECK(batch(it, train(0), {1, 0}) == truth::no);  // 2 1 1 1: half
    CHECK(batch(it, train(0), {1, 0}) == truth::yes);
    CHECK((it.found.size() == 1 && it.found[0].measured == 0.75 && it.found[0].reason == "batches come again"));
    CHECK(batch(it, train(0), {2, 0}) == truth::no);
}

TEST_CASE("identity_activation: equal bits before and after tanh fire at 2", "[identity_activation]") {
    auto const of_kind = [](activation_kind kind, std::vector<float> const& before, std::vector<float> const& after) {
        run it{identity_activation{}};
        auto const shape = extents{1, before.size()};
        it.declare({.name = "act/1", .role = role::activation, .activation = kind, .type = dtype::f32, .shape = shape});
        std::vector<truth> answers;
        for (std::uint64_t i = 0; i < 3; ++i) {
            it.see(train(i), "pre/1", before, shape);
            it.see(train(i), "act/1", after, shape);
            answers.push_back(it.close(train(i)));
        }
        return answers;
    };
    using answers = std::vector<truth>;
    answers const fires{truth::no, truth::no, truth::yes}, no(3, truth::no), undecided(3, truth::undecided);
    using kind = activation_kind;
    CHECK(of_kind(kind::tanh, {-1, 2}, {-1, 2}) == fires);
    CHECK(of_kind(kind::tanh, {-1, 2}, {-0.7F, 0.9F}) == no);
    CHECK(of_kind(kind::tanh, {-0.2F, 0.2F}, {-0.2F, 0.2F}) == undecided);
    CHECK(of_kind(kind::tanh, {0, 0}, {0, 0}) == undecided);
    CHECK(of_kind(kind::tanh, {nan_f, 1}, {nan_f, 1}) == undecided);
    CHECK(of_kind(kind::relu, {-1, 2}, {-1, 2}) == fires);
    CHECK(of_kind(kind::relu, {-1, 2}, {0, 2}) == no);
    CHECK(of_kind(kind::relu, {1, 2}, {1, 2}) == undecided);
    CHECK(of_kind(kind::sigmoid, {0.1F, 0.2F}, {0.1F, 0.2F}) == fires);
    CHECK(of_kind(kind::other, {-2, 1}, {-2, 1}) == fires);
    CHECK(of_kind(kind::other, {0, 1}, {0, 1}) == undecided);  // a leaky ReLU, perhaps
    CHECK(of_kind(kind::unknown, {-2, 1}, {-2, 1}) == undecided);
}

TEST_CASE("identity_activation finds the pair by its names, in any order, and tells why it could not",
          "[identity_activation]") {
    run it{identity_activation{.patience = 1}};
    it.declare({.name = "fc1_output",
                .role = role::activation,
                .activation = activation_kind::relu,
                .type = dtype::f32,
                .shape = {1, 2}});
    it.see(train(0), "fc1_output", {-1, 2});
    it.see(train(0), "fc1_input", {-1, 2});
    CHECK(it.close(train(0)) == truth::yes);
    CHECK((it.found[0].tensor == "fc1_output" && it.found[0].measured == 1 &&
           it.found[0].reason == "activation returns its input" && it.found[0].severity == severity::warning));
    CHECK(it.found[0].remedy == "Check the output layer, its activation and what the loss expects.");
    CHECK(it.step(train(1), "fc1_output", {-1, 2}) == truth::undecided);  // its input was not seen
    it.see(eval(0), "fc1_input", {-1, 2});
    CHECK(it.step(eval(0), "fc1_output", {-1, 2}) == truth::undecided);
    // The preactivation may declare the kind, and either may be seen twice.
    run twice{identity_activation{.patience = 2}};
    twice.declare({.name = "pre/1",
                   .role = role::preactivation,
                   .activation = activation_kind::relu,
                   .type = dtype::f32,
                   .shape = {1, 2}});
    for (std::uint64_t i = 0; i < 2; ++i) {
        twice.see(train(i), "pre/1", {-1, 2});
        twice.see(train(i), "act/1", {-1, 2});
        twice.see(train(i), "act/1", {-1, 2});
        CHECK(twice.close(train(i)) == truth_of(i == 1));
    }
    run alone{identity_activation{}};
    CHECK(alone.step(train(0), "act/1", {1}) == truth::undecided);
    CHECK(alone.covered().reason.starts_with("no activation of a known kind"));
}
