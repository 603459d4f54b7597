// SPDX-License-Identifier: Apache-2.0
// Rules on inputs, beginnings and updates that read values: each example of the catalogue, exactly.
#include <spotter/rule/builtin/check_input_images.hpp>
#include <spotter/rule/builtin/nlp_sequence_ratio.hpp>
#include <spotter/rule/builtin/poor_weight_initialization.hpp>
#include <tests/rule/descent.hpp>

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
constexpr bool stays_equal() {
    run it{poor_weight_initialization{.steps = 1}};
    truth last = truth::no;
    for (std::uint64_t i = 0; i < 2; ++i) {
        float const moved = i == 0 ? 0.5F : 0.4F;
        it.see(train(i), "fc1/w", {moved, moved, moved, moved}, {2, 2});
        it.see(train(i), "fc2/w", {moved, moved, moved, moved}, {2, 2});
        last = it.close(train(i));
    }
    return last == truth::yes;
}
static_assert(stays_equal());

}  // namespace

TEST_CASE("check_input_images: a channel with mean 0.3 fires at step 4, 0.25 is not above 0.25",
          "[check_input_images]") {
    auto const of = [](std::vector<float> const& channels, check_input_images const& rule = {}) {
        return fired(rule, 6,
                     [&](auto& it, step_id at) { it.see(at, "input", images(100, channels), {100, 3, 2, 2}); });
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

namespace {

// Two weights, each of one value at first. Then a column of the first moves, and a row of the second.
template <class Rule>
indices fired_from_one_value(Rule const& rule, float first, float second, std::uint64_t every = 1) {
    return fired(rule, 30, [&](auto& it, step_id at) {
        if (at.index % every != 0) { return; }
        float const moved = 0.01F * static_cast<float>(at.index);
        it.see(at, "fc1/w", {first + moved, first, first - moved, first}, {2, 2});
        it.see(at, "fc2/w", {second, second, second, second, second - moved, second + moved}, {3, 2});
    });
}

}  // namespace

TEST_CASE("poor_weight_initialization: two weights that are all 0.5 fire ten steps later",
          "[poor_weight_initialization]") {
    poor_weight_initialization const rule;
    CHECK(fired_from_one_value(rule, 0.5F, 0.5F) == indices{10});
    CHECK(fired_from_one_value(rule, 0, 0) == indices{10});
    CHECK(fired_from_one_value(rule, 0, 0, 4) == indices{12});  // as it is seen
    CHECK(fired_from_one_value(rule, 0, 0, 15) == indices{15});
    CHECK(fired_from_one_value(poor_weight_initialization{.symmetry = false}, 0, 0).empty());
    run at_the_end{rule};  // of all indices
    for (std::uint64_t i = 0; i < 10; ++i) {
        step_id const at = train(~std::uint64_t{0} - 9 + i);
        at_the_end.see(at, "fc1/w", {0, 0, 0, 0}, {2, 2});
        at_the_end.see(at, "fc2/w", {0, 0, 0, 0}, {2, 2});
        CHECK(at_the_end.close(at) == truth::undecided);
    }
    // The last column, or row, of each holds biases.
    auto const with_biases = [&](bool transposed) {
        return fired(rule, 30, [=](auto& it, step_id at) {
            auto const moved = static_cast<float>(at.index);
            std::vector<float> first(12, 0), second{moved, moved, moved, moved, -moved, moved, moved, -moved};
            for (std::size_t e = 0; e < 12; ++e) { first[e] = moved * static_cast<float>(transposed ? e / 3 : e % 4); }
            it.see(at, "fc1/w", first, transposed ? extents{4, 3} : extents{3, 4});
            if (transposed) { second = {moved, -moved, moved, -moved, moved, -moved, moved, moved}; }
            it.see(at, "fc2/w", second, transposed ? extents{4, 2} : extents{2, 4});
        });
    };
    CHECK(with_biases(false) == indices{10});
    CHECK(with_biases(true) == indices{10});
    run reported{rule};
    for (std::uint64_t i = 0; i < 11; ++i) {
        reported.see(train(i), "fc1/w", {0.5F, 0.5F, 0.5F, 0.5F}, {2, 2});
        reported.see(train(i), "fc2/w", {0, 0, 0, 0}, {2, 2});
        CHECK((reported.close(train(i)) == truth::yes) == (i == 10));  // nothing can start
    }
    REQUIRE(reported.found.size() == 1);
    finding const& found = reported.found[0];
    CHECK((found.tensor == "fc1/w" && found.others == 1 && found.severity == severity::warning));
    CHECK(found.reason == "weights began with one value");
}

TEST_CASE("poor_weight_initialization: what is one weight of several, or has no second element, says nothing",
          "[poor_weight_initialization]") {
    CHECK(fired(poor_weight_initialization{}, 20, "fc/w", {0.5F, 0.5F}).empty());  // a convex model
    CHECK(fired(poor_weight_initialization{}, 20, "fc/w", {0.5F}).empty());        // one element
    CHECK(fired(poor_weight_initialization{}, 20, "norm/scale", {1, 1}).empty());
    auto const beside_one = [](float value) {
        return fired(poor_weight_initialization{}, 20, [=](auto& it, step_id at) {
            it.see(at, "fc1/w", {value, value, value, value}, {2, 2});
            it.see(at, "fc2/w", {value, value, value, value}, {2, 2});
            it.see(at, "fc3/w", {0.1F, 0.2F + static_cast<float>(at.index)});
        });
    };
    CHECK(beside_one(0).empty());  // as residual blocks begin
    CHECK(beside_one(0.1F) == indices{10});
}

TEST_CASE("poor_weight_initialization: a healthy net is judged in its first ten steps",
          "[poor_weight_initialization]") {
    for (poor_weight_initialization const& rule :
         {poor_weight_initialization{}, poor_weight_initialization::sagemaker_defaults()}) {
        run it{rule};
        for (std::uint64_t i = 0; i < 30; ++i) {
            step_id const at = train(i);
            it.see(at, "fc1/w", {0.5F, -0.25F}), it.see(at, "fc2/w", {0.1F, 0.2F});
            it.see(at, "pre/fc1", {1, -1}), it.see(at, "pre/fc2", {0.9F, -1});
            it.see(at, "grad/fc1/w", {0.5F, -0.5F}), it.see(at, "loss", {1.0F / static_cast<float>(i + 1)});
            CHECK(it.close(at) == (i < 10 ? truth::no : truth::undecided));
        }
        CHECK((it.covered().judged == 10 && it.covered().reason.empty()));
    }
    // Weights of one value leave it open until they are judged.
    run open{poor_weight_initialization{}};
    for (std::uint64_t i = 0; i < 12; ++i) {
        open.see(train(i), "fc1/w", {0.5F, 0.5F}), open.see(train(i), "fc2/w", {0.1F, 0.2F});
        CHECK(open.close(train(i)) == (i == 10 ? truth::no : truth::undecided));
    }
}

TEST_CASE("poor_weight_initialization: a linear actor and critic may begin at zero", "[poor_weight_initialization]") {
    CHECK(fired(poor_weight_initialization{}, 30, [](auto& it, step_id at) {
              auto const moved = static_cast<float>(at.index);
              it.see(at, "critic/v/w", {0, 2 * moved, moved, -moved}, {1, 4});
              it.see(at, "actor/u/w", {moved, 0, -moved, 0.5F * moved, moved, 0}, {3, 2});
          }).empty());
}

TEST_CASE("poor_weight_initialization: tables that are looked up may begin with one value",
          "[poor_weight_initialization]") {
    for (float const begin : {0.0F, 40.0F}) {
        for (order const layout : {order::row_major, order::column_major}) {
            std::vector<float> first(20, begin), second = first;
            CHECK(fired(poor_weight_initialization{}, 30, [&](auto& it, step_id at) {
                      it.see(at, "table/a/w", view_of(first.data(), {4, 5}, layout));
                      it.see(at, "table/b/w", view_of(second.data(), {4, 5}, layout));
                      for (std::uint64_t k = 0; k < 3; ++k) {
                          first[(at.index * 7 + k * 6) % 20] += 0.1F * static_cast<float>(k + 1);
                          second[(at.index * 3 + k * 11) % 20] -= 0.1F;
                      }
                  }).empty());
        }
    }
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
    // As packs::rl has it: weights of one value, and nothing of the two others.
    poor_weight_initialization const in_rl{.threshold = 1e300, .distribution_range = 0};
    CHECK(fired(in_rl, 12, far_apart).empty());
    CHECK(fired_from_one_value(in_rl, 0.5F, 0.5F) == indices{10});
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
    CHECK(judges_without_values(poor_weight_initialization{.steps = 3}, [](auto& it, auto tell) {
        for (std::uint64_t i = 0; i < 6; ++i) {
            float const moved = 0.01F * static_cast<float>(i);
            it.see(train(i), "fc1/w", {moved, -moved, moved, -moved}, {2, 2});
            it.see(train(i), "fc2/w", {moved, moved, -moved, -moved}, {2, 2});
            tell(it.close(train(i)));
        }
    }));
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
