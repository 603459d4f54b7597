// SPDX-License-Identifier: Apache-2.0
// Rules on inputs, beginnings and updates that read values: each example of the catalogue, exactly.
#include <spotter/rule/builtin/check_input_images.hpp>
#include <spotter/rule/builtin/nlp_sequence_ratio.hpp>
#include <spotter/rule/builtin/poor_weight_initialization.hpp>
#include <spotter/rule/builtin/update_direction.hpp>
#include <tests/rule/features.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace stage;

namespace {

std::vector<float> images(std::size_t count, std::vector<float> const& channels) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) {
        for (float const each : channels) { values.insert(values.end(), {each - 1, each, each, each + 1}); }
    }
    return values;
}
using tokens = std::vector<std::int32_t>;
tensor_ref view_of_tokens(tokens const& values) { return view_of(values.data(), {1, values.size()}); }

constexpr bool mostly_padding() {
    run it{nlp_sequence_ratio::sagemaker_defaults()};
    std::int32_t const padded[] = {0, 0, 0, 5}, half[] = {0, 0, 5, 6};
    it.see(train(0), "input", view_of(padded, {1, 4}));
    bool const fires = it.close(train(0)) == truth::yes;
    it.see(train(1), "input", view_of(half, {1, 4}));
    return fires && it.close(train(1)) == truth::no;
}
static_assert(mostly_padding());
constexpr bool begins_equal() {
    run it{poor_weight_initialization{}};
    return it.step(train(0), "fc/w", {0.5F, 0.5F}) == truth::yes;
}
static_assert(begins_equal());
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

// A weight that moves by `rate` times its gradient, the weight seen first or last.
struct descent {
    float rate = -0.1F;
    bool weight_first = true;
    std::vector<double> weight{0.5, -0.25}, gradient{};

    template <rule Rule>
    void declare(run<Rule>& it) const {
        it.declare({.name = "fc/w", .role = role::weight, .type = dtype::f64, .shape = {1, 2}});
        it.declare({.name = "grad/fc/w",
                    .role = role::gradient,
                    .partner_role = role::weight,
                    .partner = 0,
                    .type = dtype::f64,
                    .shape = {1, 2}});
    }
    template <rule Rule>
    void see(run<Rule>& it, step_id at) {
        if (at.index == 0) { declare(it); }
        gradient = {at.index % 2 == 0 ? 1.0 : -0.5, 0.25};
        if (weight_first) { it.see(at, "fc/w", view_of(weight.data(), {1, 2})); }
        it.see(at, "grad/fc/w", view_of(gradient.data(), {1, 2}));
        if (!weight_first) { it.see(at, "fc/w", view_of(weight.data(), {1, 2})); }
        update();
    }
    void update() {
        for (std::size_t i = 0; i < 2; ++i) { weight[i] += static_cast<double>(rate) * gradient[i]; }
    }
};
indices directions(descent net, std::uint64_t steps = 62, update_direction const& rule = {}) {
    return fired(rule, steps, [&](auto& it, step_id at) { net.see(it, at); });
}

}  // namespace

TEST_CASE("check_input_images: a channel with mean 0.3 fires at step 4, 0.25 is not above 0.25",
          "[check_input_images]") {
    auto const of = [](std::vector<float> const& channels, check_input_images const& rule = {}) {
        return fired(rule, 6, [&](auto& it, step_id at) {
            it.see(at, "input", images(100, channels), {100, 3, 2, 2});
        });
    };
    CHECK(of({0, 0, 0.3F}) == indices{4, 5});
    CHECK(of({0.25F, 0, 0}, {.threshold_mean = 0.25}).empty());
    CHECK(of({0, -0.26F, 0}, {.threshold_mean = 0.25}) == indices{4, 5});
    CHECK(of({0.1F, 0.2F, 0}) == indices{4, 5});  // the float nearest to 0.2 is above it
    CHECK(of({0, 0, 0.3F}, check_input_images::sagemaker_defaults()) == indices{4, 5});
    run it{check_input_images{}};
    for (std::uint64_t i = 0; i < 4; ++i) {
        it.see(train(i), "input", images(100, {0, 0, 0.3F}), {100, 3, 2, 2});
        CHECK(it.close(train(i)) == truth::undecided);
    }
    CHECK(it.covered().reason.starts_with("warm-up not reached"));
    it.see(train(4), "input", images(100, {0, 0, 0.3F}), {100, 3, 2, 2});
    CHECK(it.close(train(4)) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK(found.measured == Approx(0.3).epsilon(1e-6));
    CHECK((found.threshold == 0.2 && found.severity == severity::info && found.detail.view() == "channel 2"));
    CHECK((found.tensor == "input" && found.reason == "a channel is not centred"));
}

TEST_CASE("check_input_images: only images, only train steps, and a NaN is no pixel", "[check_input_images]") {
    run it{check_input_images{.threshold_samples = 2}};
    it.see(train(0), "input/flat", {1.0F, 1.0F}, {1, 2});
    CHECK(it.covered().matched == 0);
    it.see(eval(0), "input", {9, 9}, {2, 1, 1, 1});
    CHECK(it.close(eval(0)) == truth::undecided);
    it.see(train(1), "input", {nan_f, nan_f}, {2, 1, 1, 1});
    CHECK(it.close(train(1)) == truth::undecided);
    it.see(train(2), "input", {0.1F, nan_f}, {2, 1, 1, 1});
    CHECK(it.close(train(2)) == truth::no);
    it.see(train(3), "input", {0.5F}, {1, 1, 1, 1});
    it.see(train(3), "input", {0.5F}, {1, 1, 1, 1});
    CHECK(it.close(train(3)) == truth::yes);
    CHECK((it.found[0].measured == Approx(1.1 / 3).epsilon(1e-6) && it.found[0].others == 0));
    CHECK(it.close(train(4)) == truth::undecided);
    // Channels last.
    run last{check_input_images{.threshold_samples = 1, .channel = 3}};
    last.see(train(0), "input", {1, 0, -1, 0}, {1, 2, 1, 2});
    CHECK(last.close(train(0)) == truth::no);
    last.see(train(1), "input", {1, 0, 1, 0}, {1, 2, 1, 2});
    CHECK(last.close(train(1)) == truth::yes);
    CHECK((last.found[0].measured == 0.5 && last.found[0].detail.view() == "channel 0"));
    run none{check_input_images{.channel = 4}};
    none.see(train(0), "input", {1, 0, 1, 0}, {1, 2, 1, 2});
    CHECK(none.covered().matched == 0);
}

TEST_CASE("nlp_sequence_ratio: 0.75 fires at once as AWS has it, else at 9; half is not above half",
          "[nlp_sequence_ratio]") {
    tokens const padded{0, 0, 0, 5}, half{0, 0, 5, 6};
    CHECK(fired(nlp_sequence_ratio::sagemaker_defaults(), 1,
                [&](auto& it, step_id at) { it.see(at, "input", view_of_tokens(padded)); }) == indices{0});
    CHECK(fired(nlp_sequence_ratio::sagemaker_defaults(), 1, [&](auto& it, step_id at) {
              it.see(at, "input", view_of_tokens(half));
          }).empty());
    CHECK(fired(nlp_sequence_ratio{}, 11, [&](auto& it, step_id at) { it.see(at, "input", view_of_tokens(padded)); }) ==
          indices{9, 10});
    run it{nlp_sequence_ratio::sagemaker_defaults()};
    it.see(train(0), "input", view_of_tokens(padded));
    CHECK(it.close(train(0)) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.measured == 0.75 && found.threshold == 0.5 && found.detail.view() == "token 0"));
    CHECK((found.severity == severity::warning && found.tensor == "input"));
}

TEST_CASE("nlp_sequence_ratio: a window slides, a step is one entry of it, and each token has its limit",
          "[nlp_sequence_ratio]") {
    run it{nlp_sequence_ratio{.tokens = {0, 3}, .limits = {0.5, 0.25}, .n = 2, .window = 2}};
    it.see(train(0), "input", view_of_tokens({0, 0, 0, 5}));
    it.see(train(0), "input", view_of_tokens({0, 5, 5, 5}));  // the same step
    CHECK(it.close(train(0)) == truth::undecided);
    CHECK(it.close(train(1)) == truth::undecided);
    it.see(eval(0), "input", view_of_tokens({0, 0, 0, 0}));
    CHECK(it.close(eval(0)) == truth::undecided);
    it.see(train(2), "input", view_of_tokens({3, 3, 3, 5}));
    CHECK(it.close(train(2)) == truth::no);  // 4 and 3 of 12
    it.see(train(3), "input", view_of_tokens({0, 5}));
    CHECK(it.close(train(3)) == truth::yes);  // 3 of 6
    CHECK((it.found[0].measured == 0.5 && it.found[0].threshold == 0.25 && it.found[0].detail.view() == "token 3"));
    it.see(train(2), "input", view_of_tokens({5, 5}));  // after a rewind
    CHECK(it.close(train(2)) == truth::no);
    it.see(train(4), "input", view_of(static_cast<std::int32_t const*>(nullptr), {0}));
    CHECK(it.close(train(4)) == truth::undecided);
    // Floats are no tokens, unless a pattern says so; then a NaN is none.
    run floats{nlp_sequence_ratio::sagemaker_defaults()};
    floats.see(train(0), "input", {0, 0});
    CHECK(floats.covered().matched == 0);
    auto any_type = nlp_sequence_ratio::sagemaker_defaults();
    any_type.select = "input";
    run chosen{any_type};
    CHECK(chosen.step(train(0), "input", {0, 1, nan_f, nan_f}) == truth::no);
    CHECK(chosen.step(train(1), "input", {0, 0, 1, nan_f}) == truth::yes);
    run unset{nlp_sequence_ratio{.n = 0, .window = 1}};
    unset.see(train(0), "input", view_of_tokens({0}));
    CHECK(unset.close(train(0)) == truth::undecided);
    CHECK(unset.covered().reason == "parameter n not set");
}

TEST_CASE("poor_weight_initialization: a weight that is all 0.5 fires at 0", "[poor_weight_initialization]") {
    run it{poor_weight_initialization{}};
    it.see(train(0), "conv/w", {0.1F, 0.2F}, {1, 2});
    it.see(train(0), "fc/w", {0.5F, 0.5F, 0.5F, 0.5F}, {2, 2});
    CHECK(it.close(train(0)) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.tensor == "fc/w" && found.measured == 0 && found.severity == severity::warning));
    CHECK(found.reason == "a weight has one value in all its elements");
    // What it is at its first observation counts, during the first ten closes.
    CHECK(fired(poor_weight_initialization{}, 12, [](auto& run, step_id at) {
              run.see(at, "fc/w", {0.5F, 0.5F + static_cast<float>(at.index)});
          }) == indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(fired(poor_weight_initialization{}, 12, [](auto& run, step_id at) {
              run.see(at, "fc/w", {0.5F, at.index == 0 ? 0.4F : 0.5F});
          }).empty());
    CHECK(fired(poor_weight_initialization{.symmetry = false}, 5, "fc/w", {0.5F, 0.5F}).empty());
    CHECK(fired(poor_weight_initialization{}, 5, "fc/w", {0.5F}).empty());  // one element
    CHECK(fired(poor_weight_initialization{}, 5, "norm/scale", {1, 1}).empty());
}

TEST_CASE("poor_weight_initialization: variances 1 and 0.09 with a loss that stays fire at 5",
          "[poor_weight_initialization]") {
    auto const layers = [](auto& it, step_id at, float loss) {
        it.see(at, "pre/1", {-1, 1});
        it.see(at, "pre/2", {-0.3F, 0.3F});
        it.see(at, "loss", {loss});
    };
    auto const constant = [&](auto& it, step_id at) {
        it.see(at, "fc/w", {0.1F, 0.2F});
        layers(it, at, 2.3F);
    };
    auto const falling = [&](auto& it, step_id at) { layers(it, at, 2.3F - 0.1F * static_cast<float>(at.index)); };
    poor_weight_initialization const specified{.threshold = 10};
    CHECK(fired(specified, 12, constant) == indices{5, 6, 7, 8, 9});
    CHECK(fired(specified, 12, falling).empty());
    CHECK(fired(poor_weight_initialization{}, 12, constant).empty());
    auto const far_apart = [](auto& it, step_id at) {  // 1 and 0.0009, a ratio of 1111
        it.see(at, "fc/w", {0.1F, 0.2F});
        it.see(at, "pre/1", {-1, 1});
        it.see(at, "pre/2", {-0.03F, 0.03F});
        it.see(at, "grad/fc/w", {0, 0}, {1, 2});
        it.see(at, "loss", {2.3F});
    };
    CHECK(fired(poor_weight_initialization{.distribution_range = 0}, 12, far_apart) == indices{5, 6, 7, 8, 9});
    // As packs::rl has it: a weight of one value, and nothing of the two others.
    poor_weight_initialization const in_rl{.threshold = 1e300, .distribution_range = 0};
    CHECK(fired(in_rl, 12, far_apart).empty());
    CHECK(fired(in_rl, 2, "fc/w", {0.5F, 0.5F}) == indices{0, 1});
    auto const sagemaker = poor_weight_initialization::sagemaker_defaults();
    CHECK((sagemaker.threshold == 10 && sagemaker.distribution_range == 0.001 && sagemaker.patience == 5));
    CHECK((sagemaker.steps == 10 && !sagemaker.symmetry && !sagemaker.conjunct));
    CHECK(fired(sagemaker, 3, falling) == indices{0, 1, 2});
    run it{sagemaker};
    falling(it, train(0));
    CHECK(it.close(train(0)) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK(it.found[0].measured == Approx(1 / 0.09).epsilon(1e-6));
    CHECK((it.found[0].tensor == "pre/2" && it.found[0].threshold == 10));
    CHECK(it.found[0].detail.view() == "0.09 here, 1 in pre/1");
    // The loss alone, as AWS has it.
    CHECK(fired(sagemaker, 8, [](auto& run, step_id at) {
              run.see(at, "fc/w", {0.1F, 0.2F});
              run.see(at, "loss", {2.3F});
          }) == indices{5, 6, 7});
}

TEST_CASE("poor_weight_initialization: a layer without variance has no ratio, and all without have nothing to say",
          "[poor_weight_initialization]") {
    auto const sagemaker = poor_weight_initialization::sagemaker_defaults();
    run it{sagemaker};
    it.see(train(0), "pre/1", {1, 1});
    it.see(train(0), "pre/2", {2, 2});
    CHECK(it.close(train(0)) == truth::undecided);
    it.see(train(1), "pre/1", {1, 1});
    it.see(train(1), "pre/2", {1, 2});
    CHECK(it.close(train(1)) == truth::yes);
    CHECK((it.found[0].tensor == "pre/1" && it.found[0].measured == 0 && it.found[0].measure == "variance"));
    it.see(train(2), "pre/1", {nan_f, nan_f});
    it.see(train(2), "pre/2", {1, 2});
    CHECK(it.close(train(2)) == truth::undecided);  // one layer is not apart from itself; nothing else is known
}

TEST_CASE("poor_weight_initialization: gradients within a thousandth, with a loss that stays",
          "[poor_weight_initialization]") {
    auto const alike = [](float spread, float tail) {
        return fired(poor_weight_initialization{}, 12, [&](auto& it, step_id at) {
            std::vector<float> values(100, 0);
            for (std::size_t i = 5; i < 95; ++i) { values[i] = spread; }
            for (std::size_t i = 95; i < 100; ++i) { values[i] = tail; }
            it.see(at, "fc/w", {0.1F, 0.2F});
            it.see(at, "grad/fc/w", values, {10, 10});
            it.see(at, "loss", {2.3F});
        });
    };
    // P5 and P95 are the 5th and the 95th of 100: the tails are not seen.
    CHECK(alike(0.0009F, 5) == indices{5, 6, 7, 8, 9});
    CHECK(alike(0.0011F, 5).empty());
    run it{poor_weight_initialization{.patience = 0, .steps = 3}};
    it.see(train(0), "grad/fc/w", {nan_f, nan_f});
    it.see(train(0), "fc/w", {0.1F, 0.2F});
    it.see(train(0), "loss", {2.3F});
    CHECK(it.close(train(0)) == truth::undecided);
    it.see(train(1), "fc/w", {0.1F, 0.2F});
    it.see(train(1), "grad/fc/w", {nan_f, 1e-4F, 0});
    it.see(train(1), "grad/fc/w", {nan_f, 1e-4F, 0});  // twice is one tensor
    it.see(train(1), "loss", {nan_f});
    CHECK(it.close(train(1)) == truth::yes);
    CHECK((it.found[0].measured == static_cast<double>(1e-4F) && it.found[0].others == 0));
    CHECK(it.step(eval(0), "grad/fc/w", {0, 0}) == truth::undecided);
    CHECK(it.close(train(2)) == truth::undecided);
}

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

TEST_CASE("update_direction: one of two nets is judged by itself, a layer is not", "[update_direction]") {
    // Four weights, two of which ascend.
    auto const told = [](std::vector<std::string> const& names) {
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
    CHECK(told({"actor.0/w", "actor.2/w", "critic.0/w", "critic.2/w"}) == "actor.0/w");
    CHECK(told({"actor/fc1/w", "actor/fc2/w", "critic/fc1/w", "critic/fc2/w"}) == "actor/fc1/w");
    CHECK(told({"fc1/w", "fc2/w", "fc3/w", "fc4/w"}).empty());
    CHECK(told({"net/fc1/w", "net/fc2/w", "net/fc3/w", "net/fc4/w"}).empty());
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

TEST_CASE("rules that read values judge their features as they judge the values") {
    auto const play = [](auto& it, auto tell) {
        descent net{.rate = 0.1F};
        for (std::uint64_t i = 0; i < 15; ++i) {
            step_id const at = train(i);
            net.rate = i % 6 == 0 ? -0.1F : 0.1F;
            net.see(it, at);
            it.see(at, "input/images", images(2, {0.1F * static_cast<float>(i), nan_f}), {2, 2, 2, 2});
            tokens const words{0, static_cast<std::int32_t>(i % 4), 1};
            it.see(at, "input/words", view_of_tokens(words));
            it.see(at, "loss", {2.3F});
            tell(it.close(at));
        }
    };
    CHECK(judges_without_values(check_input_images{.threshold_samples = 4}, play));
    CHECK(judges_without_values(nlp_sequence_ratio{.window = 2}, play));
    CHECK(judges_without_values(poor_weight_initialization{.distribution_range = 2}, play));
    CHECK(judges_without_values(update_direction{.warmup = 1, .window = 3, .share = 0.7}, play));
}

TEST_CASE("rules that read values make nothing of damaged features") {
    std::vector<truth> const nothing(3, truth::undecided);
    double const nan = static_cast<double>(nan_f), infinity = static_cast<double>(pos_infinity_f);
    tensor_info picture{.name = "input", .role = role::input, .type = dtype::f32, .shape = {1, 1, 2, 2}};
    tensor_info words{.name = "input", .role = role::input, .type = dtype::i32, .shape = {1, 4}};
    tensor_info gradient{.name = "grad/w", .role = role::gradient, .type = dtype::f32, .shape = {1, 2}};
    tensor_info weight{.name = "w", .role = role::weight, .type = dtype::f32, .shape = {1, 2}};
    for (std::vector<double> const& made : {std::vector<double>{nan, 9, 1}, {9, nan, 1}, {9, 1, infinity}, {}}) {
        CHECK(answers_to(check_input_images{.threshold_samples = 1}, picture, made) == nothing);
    }
    for (std::vector<double> const& made : {std::vector<double>{nan, 9}, {9, infinity}, {-9, 1}, {1, 1, 1}, {}}) {
        CHECK(answers_to(nlp_sequence_ratio{.window = 1}, words, made) == nothing);
    }
    for (std::vector<double> const& made : {std::vector<double>{nan}, {infinity}, {}}) {
        CHECK(answers_to(poor_weight_initialization{.patience = 0}, gradient, made) == nothing);
        CHECK(answers_to(update_direction{.warmup = 0, .window = 2}, weight, made) == nothing);
    }
}
