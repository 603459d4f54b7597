// SPDX-License-Identifier: Apache-2.0
// Once every tensor has been seen, a step allocates nothing on the training thread, whatever plan and rules ask for.
#include <tests/catch.hpp>
#include <tests/hook/count_allocations.hpp>

#include <spotter/hook.hpp>
#include <spotter/packs.hpp>
#include <spotter/rules.hpp>

#include <vector>

using namespace spotter;
using spotter_test::allocations_in;

namespace {

struct model {
    std::vector<float> w = std::vector<float>(64 * 32, 0.5F);
    std::vector<float> gradient = std::vector<float>(64 * 32, 0.1F);
    std::vector<double> b = std::vector<double>(64, 0.25);
    std::vector<float> out = std::vector<float>(8 * 64, 1.0F);
};
template <class Visit>
void visit_tensors(model const& net, Visit visit) {
    visit("fc/w", view_of(net.w.data(), {64, 32}));
    visit("fc/b", net.b);
    visit("act/fc", view_of(net.out.data(), {8, 64}));
    visit("grad/fc/w", view_of(net.gradient.data(), {64, 32}));
}

constexpr plan keep{defaults::losses, collection{"all", "*", every{3}, payload | stats(l2, stddev)}};
constexpr auto many = any("*", nonfinite > 0) || (all("grad/*", mean_abs < 1e-7) | for_steps{3}) ||
                      (fraction("act/*", zero_fraction > 0.9) > 0.5);

}  // namespace

TEST_CASE("a step of a known model allocates nothing: statistics, delta, unit activity, findings, mode changes [D22]") {
    hook watch{keep,
               many,
               dead_relu{.samples = 64},
               update_ratio_band{},
               vanishing_gradient{},
               exploding_gradient{},
               loss_not_decreasing{},
               all_zero{},
               non_finite{},
               any("loss", minimum > 0.0) | cooldown{2}};
    model net;
    float loss = 3;
    auto const step = [&](step_id id) {
        for (float& each : net.w) { each *= 1.001F; }
        return watch.step(id, "loss"_t = loss, net).size();
    };
    (void)step(train(0));
    (void)step(eval(0));
    (void)step(train(1));
    std::size_t findings = 0;
    std::size_t const counted = allocations_in([&] {
        for (std::uint64_t i = 2; i < 200; ++i) {
            findings += step(train(i));
            if (i % 10 == 0) { findings += step(eval(i)); }
            watch.scalar("loss", 2.0F);  // between steps
        }
    });
    CHECK(counted == 0);
    CHECK(findings > 0);
    CHECK(watch.health().good());
}

TEST_CASE("a pack allocates nothing behind the third step: layers that begin with one value, labels, alarms [D22]") {
    hook watch{plan{}, packs::supervised};
    std::vector<float> first(64 * 32, 0.5F), second(8 * 64, 0.5F), inputs(16 * 32), logits(16 * 8);
    std::vector<int> labels(16);
    auto const step = [&](step_id id) {
        auto const i = static_cast<std::size_t>(id.index);
        for (float& each : first) { each *= 1.001F; }
        for (float& each : second) { each *= 0.999F; }
        for (std::size_t k = 0; k < inputs.size(); ++k) { inputs[k] = static_cast<float>((k * 7 + i) % 11); }
        for (std::size_t k = 0; k < logits.size(); ++k) { logits[k] = static_cast<float>((k * 5 + i) % 13); }
        for (std::size_t k = 0; k < labels.size(); ++k) { labels[k] = static_cast<int>((k + i) % 8); }
        return watch.step(id, "loss"_t = 2.0F, "input"_t = view_of(inputs, {16, 32}), "labels"_t = labels,
                          "logits"_t = view_of(logits, {16, 8}), "fc1/w"_t = view_of(first, {64, 32}),
                          "fc2/w"_t = view_of(second, {8, 64}), "grad/fc1/w"_t = view_of(first, {64, 32}),
                          "grad/fc2/w"_t = view_of(second, {8, 64}));
    };
    for (std::uint64_t i = 0; i < 3; ++i) { (void)step(train(i)); }
    (void)step(eval(2));
    bool alike = false;
    std::size_t const counted = allocations_in([&] {
        for (std::uint64_t i = 3; i < 300; ++i) {
            for (finding const& it : step(train(i))) { alike = alike || it.id == rule_id::poor_weight_initialization; }
            if (i % 10 == 0) { (void)step(eval(i)); }
        }
    });
    CHECK(counted == 0);
    CHECK(alike);
    CHECK(watch.health().good());
}

TEST_CASE("features allocate nothing once the longest was seen [D22]") {
    hook watch{plan{}, feature_importance_overweight{}, low_feature_importance{},
               feature_importance_overweight{.threshold = 0.1, .nfeatures = 1}};
    std::vector<float> gain(100, 1.0F), cover(400, 2.0F);
    auto const step = [&](std::uint64_t i) {
        gain[i % 100] += 1;
        return watch.step(train(i), "feature_importance/gain"_t = gain, "feature_importance/cover"_t = cover).size();
    };
    (void)step(0);
    std::size_t const counted = allocations_in([&] {
        for (std::uint64_t i = 1; i < 100; ++i) { (void)step(i); }
    });
    CHECK(counted == 0);
    CHECK(watch.health().good());
}

TEST_CASE("a new name, and only that, allocates") {
    hook watch{keep, many};
    (void)watch.step(train(0), "loss"_t = 1.0F);
    CHECK(allocations_in([&] { (void)watch.step(train(1), "loss"_t = 1.0F); }) == 0);
    CHECK(allocations_in([&] { (void)watch.step(train(2), "loss"_t = 1.0F, "new"_t = 1.0F); }) > 0);
    CHECK(allocations_in([&] { (void)watch.step(train(3), "loss"_t = 1.0F, "new"_t = 1.0F); }) == 0);
    CHECK(watch.health().declared == 2);
}

TEST_CASE(
    "no way in allocates once its names are known: handles, taps, sources, tables, lists, layers, scalars [D22]") {
    hook watch{keep, non_finite{}};
    std::vector<float> const values(24, 1.0F);
    std::vector<std::vector<float>> const list = {{1, 2}, {3}};
    name_list const numbers{"p", 2};
    name_list const layers{"block/{}/w", 2};
    float const* where = values.data();
    tensor_table table;
    table.add("t/w", &where, {4, 6});
    tensor_handle const bought = watch.tensor("bought");
    std::int64_t const strides[] = {24, 8};
    auto const one_step = [&](std::uint64_t i) {
        auto scope = watch.during(mode::eval);
        watch.begin(i);
        watch.observe(bought, values);
        float const passed = watch.tap("tapped", 1.0F);
        watch.observe("packed", packed(values.data(), {4, 3}, std::span<std::int64_t const>{strides}));
        watch.observe("made", values_from({7}, [&](std::size_t k) {
                          return static_cast<double>(passed) * static_cast<double>(k);
                      }));
        watch.observe(
            "far", copied<float>({4}, [&](void* into, std::size_t bytes) { std::memcpy(into, values.data(), bytes); }));
        observe_each(watch, numbers, list);
        observe_layers(watch, layers, view_of(values.data(), {2, 3, 4}));
        visit_tensors(
            table, [&](std::string_view name, auto const& view, auto... more) { watch.observe(name, view, more...); });
        watch.scalar("lr", 0.1);
        (void)watch.end();
        watch.scalar("between", 1.0);
    };
    one_step(0);
    one_step(3);
    CHECK(allocations_in([&] {
              for (std::uint64_t i = 4; i < 100; ++i) { one_step(i); }
          }) == 0);
}

TEST_CASE("the scratch of quantiles is taken when a tensor is met, not when it is due [D22]") {
    hook watch{plan{collection{"x", "x*", every{5}, quantiles | histogram}}};
    std::vector<float> const small(100, 1.0F), large(5000, 2.0F);
    (void)watch.step(train(1), "x/small"_t = small, "x/large"_t = large);
    CHECK(allocations_in([&] {
              for (std::uint64_t i = 2; i < 20; ++i) {
                  (void)watch.step(train(i), "x/small"_t = small, "x/large"_t = large);
              }
          }) == 0);
    CHECK(watch.health().good());
}
