// SPDX-License-Identifier: Apache-2.0
// Where a NaN began: planted in every role and layer of a step, seen in several orders.
#include <tests/catch.hpp>

#include <spotter/hook.hpp>
#include <spotter/rules.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace spotter;

namespace {

float const not_a_number = std::bit_cast<float>(0x7FC00000U);

// A net whose layers have these names, as a step computes it: each tensor after all that it is made of.
struct net {
    std::vector<std::string> layers;
    std::vector<std::string> flow;  // in the given of the computation

    explicit net(std::vector<std::string> names) : layers{std::move(names)} {
        flow = {"input", "labels"};
        for (std::string const& each : layers) { flow.insert(flow.end(), {each + "/w", each + "/b"}); }
        for (std::string const& each : layers) { flow.insert(flow.end(), {"pre/" + each, "act/" + each}); }
        flow.insert(flow.end(), {"predictions", "loss"});
        for (std::size_t i = layers.size(); i-- > 0;) {
            flow.insert(flow.end(), {"grad/" + layers[i] + "/b", "grad/" + layers[i] + "/w"});
        }
    }
    [[nodiscard]] std::size_t layer_of(std::string const& name) const {
        for (std::size_t i = 0; i < layers.size(); ++i) {
            std::size_t const at = name.find(layers[i]);
            std::size_t const behind = at + layers[i].size();
            if (at != name.npos && (behind == name.size() || name[behind] == '/')) { return i; }
        }
        return layers.size();
    }
    // What a NaN in `planted` reaches within the step, itself included.
    [[nodiscard]] bool reaches(std::string const& planted, std::string const& name) const {
        if (planted == name) { return true; }
        auto const is = [](std::string const& it, char const* kind) { return it.rfind(kind, 0) == 0; };
        std::size_t const from = layer_of(planted), to = layer_of(name);
        bool const parameter = !is(name, "grad/") && (name.ends_with("/w") || name.ends_with("/b"));
        if (parameter || name == "input" || name == "labels") { return false; }
        if (is(planted, "grad/")) {  // the error signal goes on to the layers below
            return is(name, "grad/") && to < from;
        }
        if (is(name, "grad/")) { return true; }  // by way of the loss
        if (planted == "loss" || name == "loss") { return name == "loss"; }
        if (planted == "labels" || planted == "predictions") { return false; }
        if (name == "predictions" || planted == "input") { return true; }
        if (is(planted, "act/") && from == to) { return false; }
        return from <= to;
    }
};

using given = std::vector<std::string>;

// Layer by layer, as a model that walks over its layers hands itself over: weight, gradient, activation, then the next.
given by_layer(net const& it) {
    given out{"input", "labels"};
    for (std::string const& each : it.layers) {
        out.insert(out.end(), {each + "/w", "grad/" + each + "/w", each + "/b", "grad/" + each + "/b", "pre/" + each,
                               "act/" + each});
    }
    out.insert(out.end(), {"predictions", "loss"});
    return out;
}
// Role by role, gradients in front, in the layers' given.
given by_role(net const& it) {
    given out{"loss"};
    for (std::string const& each : it.layers) { out.insert(out.end(), {"grad/" + each + "/w", "grad/" + each + "/b"}); }
    out.push_back("predictions");
    for (std::string const& each : it.layers) { out.insert(out.end(), {"act/" + each, "pre/" + each}); }
    for (std::string const& each : it.layers) { out.insert(out.end(), {each + "/b", each + "/w"}); }
    out.insert(out.end(), {"labels", "input"});
    return out;
}
given backwards(net const& it) { return {it.flow.rbegin(), it.flow.rend()}; }
given alphabetical(net const& it) {
    given out = it.flow;
    std::sort(out.begin(), out.end());
    return out;
}

struct named_origin {
    std::string tensor, reason;
};
// A finite step first, then one with the NaN; names in the given of observing.
named_origin origin_of(net const& it, given const& seen, std::string const& planted, bool step_before) {
    hook watch{plan{}, non_finite{}};
    std::vector<float> const good{1, 2}, bad{not_a_number, 2};
    if (step_before) {
        watch.begin(train(0));
        for (std::string const& name : seen) { watch.observe(name, good); }
        CHECK(watch.end().empty());
    }
    watch.begin(train(1));
    for (std::string const& name : seen) { watch.observe(name, it.reaches(planted, name) ? bad : good); }
    auto const found = watch.end();
    REQUIRE(found.size() == 1);
    std::size_t const spread = static_cast<std::size_t>(
        std::count_if(seen.begin(), seen.end(), [&](std::string const& name) { return it.reaches(planted, name); }));
    CHECK(found[0].others + 1 == spread);
    return {std::string{found[0].tensor}, std::string{found[0].reason}};
}

void check_every_place(net const& it, std::vector<std::pair<std::string, given>> const& orders) {
    for (auto const& [name, seen] : orders) {
        REQUIRE(seen.size() == it.flow.size());
        for (std::string const& planted : it.flow) {
            for (bool const step_before : {false, true}) {
                INFO("planted in " << planted << ", seen " << name << (step_before ? ", after a step" : ""));
                named_origin const said = origin_of(it, seen, planted, step_before);
                CHECK(said.tensor == planted);
                bool const entered = planted.find("grad/") != 0 && (planted.ends_with("/w") || planted.ends_with("/b"));
                bool const data = planted == "input" || planted == "labels";
                CHECK(said.reason == (entered ? "entered from the previous step"
                                      : data  ? "bad input"
                                              : "originates here"));
            }
        }
    }
}

}  // namespace

TEST_CASE("a NaN planted in any role and layer is reported where it began, whatever the given of observing",
          "[non_finite]") {
    net const it{{"fc1", "fc2", "fc10"}};
    check_every_place(it, {{"as computed", it.flow},
                           {"layer by layer", by_layer(it)},
                           {"role by role, gradients first", by_role(it)},
                           {"backwards", backwards(it)},
                           {"by the alphabet", alphabetical(it)}});
}

TEST_CASE("layers of several kinds are ordered by what their numbers say of the given of observing", "[non_finite]") {
    net const it{{"conv1", "conv2", "fc1", "fc2"}};
    check_every_place(it, {{"as computed", it.flow},
                           {"layer by layer", by_layer(it)},
                           {"role by role, gradients first", by_role(it)},
                           {"backwards", backwards(it)}});
}

TEST_CASE("layers without numbers follow the given in which they are met; gradients that of their weights",
          "[non_finite]") {
    net const it{{"stem", "body", "head"}};
    check_every_place(
        it,
        {{"as computed", it.flow}, {"layer by layer", by_layer(it)}, {"role by role, gradients first", by_role(it)}});
}

TEST_CASE("names as PyTorch and Keras give them", "[non_finite]") {
    std::vector<float> const good{1}, bad{not_a_number};
    auto const origin = [&](std::vector<std::pair<std::string, bool>> const& seen) {
        hook watch{plan{}, non_finite{}};
        watch.begin(train(0));
        for (auto const& [name, is_bad] : seen) { watch.observe(name, is_bad ? bad : good); }
        return std::string{watch.end()[0].tensor};
    };
    CHECK(origin({{"layers.10.weight.grad", true}, {"layers.9.weight.grad", true}, {"layers.2.weight.grad", true}}) ==
          "layers.10.weight.grad");
    CHECK(origin({{"layers.2.weight.grad", true}, {"layers.9.weight.grad", true}, {"layers.10.weight.grad", true}}) ==
          "layers.10.weight.grad");
    CHECK(origin({{"relu_2_output", true}, {"relu_1_output", true}, {"relu_output", false}}) == "relu_1_output");
    CHECK(origin({{"relu_1_output", true}, {"relu_1_input", true}, {"relu_2_output", true}}) == "relu_1_input");
    // What no role is known of is taken to be seen where it is computed.
    CHECK(origin({{"entropy", true}, {"loss", true}, {"grad/pi/w", true}}) == "entropy");
    CHECK(origin({{"loss", false}, {"grad/pi/w", true}, {"norm", true}}) == "grad/pi/w");
    CHECK(origin({{"odds", true}, {"pi/w", true}}) == "pi/w");
}

TEST_CASE("in which kind of place a NaN began is a condition of the finding", "[non_finite]") {
    // A step of a net with one of these tensors spoiled in so many elements; the loss too, if it is said.
    constexpr float no_limit = std::numeric_limits<float>::infinity();
    auto const place = [](std::string const& spoiled, std::size_t elements, bool loss_too = false,
                          float with = not_a_number) {
        hook watch{plan{}, non_finite{}};
        watch.begin(train(0));
        for (char const* const name : {"input", "labels", "fc/w", "act/fc", "loss", "metric/reward", "grad/fc/w"}) {
            bool const is_number = std::string_view{name} == "loss" || std::string_view{name} == "metric/reward";
            std::vector<float> values(is_number ? 1 : 40, 0.5F);
            std::size_t const bad = name == spoiled ? elements : loss_too && std::string_view{name} == "loss" ? 1 : 0;
            std::fill_n(values.begin(), bad, with);
            watch.observe(name, view_of(values.data(), {values.size()}));
        }
        step_alarm const found = watch.end();
        REQUIRE(found.size() == 1);
        CHECK(found.front().tensor == spoiled);
        return found.front().condition;
    };
    CHECK(place("input", 1) == non_finite::in_data);
    CHECK(place("labels", 40) == non_finite::in_data);
    CHECK(place("metric/reward", 1) == non_finite::in_data);
    CHECK(place("grad/fc/w", 40) == non_finite::in_gradient_alone);
    CHECK(place("act/fc", 1) == non_finite::in_one_element);
    CHECK(place("fc/w", 1) == non_finite::in_one_element);
    CHECK(place("fc/w", 3) == non_finite::all_over);
    CHECK(place("act/fc", 3, true) == non_finite::all_over);             // what grows overflows in a few first
    CHECK(place("loss", 1) == non_finite::all_over);                     // it has one element
    CHECK(place("act/fc", 1, false, no_limit) == non_finite::all_over);  // the first of a layer to overflow
    CHECK(place("fc/w", 1, false, no_limit) == non_finite::in_one_element);
}

TEST_CASE("a bad weight that a ReLU hides from the forward pass is the origin", "[non_finite]") {
    // fc2/w is bad; max(NaN, 0) is 0, and so are its own gradients. What flows back through it is bad.
    std::vector<float> const good{1, 2}, one{not_a_number, 2}, all{not_a_number, not_a_number};
    auto const origin = [&](std::vector<float> const& first_weight) {
        hook watch{plan{}, non_finite{}};
        watch.begin(train(0));
        watch.observe("fc1/w", first_weight), watch.observe("grad/fc1/w", all);
        watch.observe("fc2/w", one), watch.observe("grad/fc2/w", good);
        watch.observe("act/fc1", good), watch.observe("act/fc2", good);
        step_alarm const found = watch.end("loss"_t = 1.0);
        REQUIRE(found.size() == 1);
        return std::string{found.front().tensor};
    };
    CHECK(origin(good) == "fc2/w");
    CHECK(origin(all) == "grad/fc1/w");  // observed after the update
    // The copy of an updated weight has no gradient of its own: that of the weight is the origin.
    hook watch{plan{}, non_finite{}};
    watch.begin(train(0));
    watch.observe("actor/w", good), watch.observe("grad/actor/w", one), watch.observe("target/actor/w", one);
    CHECK(watch.end("loss"_t = 1.0).front().tensor == "grad/actor/w");
}

TEST_CASE("where nothing is observed that a tensor is made of, the finding says so", "[non_finite]") {
    std::vector<float> const good{1}, bad{not_a_number};
    hook watch{plan{}, non_finite{}};
    auto const first = watch.step(train(0), "grad/fc1/w"_t = good, "loss"_t = bad);
    CHECK((first.front().tensor == "loss" && first.front().reason == "first tensor observed; its inputs were not"));
    auto const second = watch.step(train(1), "loss"_t = good, "grad/fc1/w"_t = bad);
    CHECK((second.front().tensor == "grad/fc1/w" && second.front().reason == "originates here"));
}
