// SPDX-License-Identifier: Apache-2.0
// FullGrad maps from a record: a small net whose gradients this file computes by hand.
#include <tests/trial/runs.hpp>

#include <spotter/workbench/saliency.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::size_t samples = 3, side = 4, channels = 2;

// 1 x 4 x 4 pictures; a 1 x 1 convolution with biases to two channels; ReLU; a weighted sum over all positions, and a
// bias.
struct two_layers {
    float weight[channels] = {0.75F, -0.5F}, bias[channels] = {-0.125F, 0.375F}, last_bias = 0.25F;
    std::vector<float> input, last, output, input_gradient, hidden_gradient, ones;

    two_layers() {
        for (std::size_t i = 0; i < samples * side * side; ++i) {
            input.push_back(static_cast<float>((i * 7 + 3) % 11) / 8 - 0.5F);
        }
        for (std::size_t i = 0; i < channels * side * side; ++i) {
            last.push_back(static_cast<float>((i * 5 + 1) % 7) / 4 - 0.75F);
        }
        output.assign(samples, last_bias), ones.assign(samples, 1);
        input_gradient.assign(input.size(), 0), hidden_gradient.assign(input.size() * channels, 0);
        for (std::size_t n = 0; n < samples; ++n) {
            for (std::size_t c = 0; c < channels; ++c) {
                for (std::size_t p = 0; p < side * side; ++p) {
                    float const made = input[n * side * side + p] * weight[c] + bias[c];
                    if (made <= 0) { continue; }
                    output[n] += made * last[c * side * side + p];
                    hidden_gradient[(n * channels + c) * side * side + p] = last[c * side * side + p];
                    input_gradient[n * side * side + p] += weight[c] * last[c * side * side + p];
                }
            }
        }
    }
    template <class Hook>
    void record(Hook& watch, step_id step, std::string_view without = {}) const {
        watch.begin(step);
        auto const show = [&](std::string_view name, auto const& values) {
            if (name != without) { watch.observe(name, values); }
        };
        show("input", view_of(input, {samples, 1, side, side}));
        show("grad/input", view_of(input_gradient, {samples, 1, side, side}));
        show("bias/conv", view_of(bias, {channels}));
        show("grad/conv", view_of(hidden_gradient, {samples, channels, side, side}));
        show("bias/fc", view_of(&last_bias, {1}));
        show("grad/fc", view_of(ones, {samples, 1}));
        show("explained", view_of(output, {samples}));
        (void)watch.end();
    }
};
constexpr plan keep_all{collection{"all", "*", always{}, payload}};

}  // namespace

TEST_CASE("saliency: the parts add up to the output") {
    temporary_folder const folder;
    two_layers const net;
    hook watch{folder / "run", keep_all};
    net.record(watch, predict(0));
    watch.finish();
    auto const maps = full_gradients(open(folder / "run"), predict(0));
    REQUIRE(maps);
    CHECK(maps->samples == samples);
    CHECK(maps->height == side);
    CHECK(maps->width == side);
    for (std::size_t n = 0; n < samples; ++n) {
        CHECK(std::abs(maps->parts[n] - static_cast<double>(net.output[n])) < 1e-5);
    }
    CHECK(maps->incompleteness() < 1e-5);
    // The map of a layer as large as the input: |x * dx| and |b * db|, each scaled to 0..1; their sum, scaled to 0..1.
    for (std::size_t n = 0; n < samples; ++n) {
        std::vector<double> wanted(side * side);
        auto const add = [&](std::vector<double> const& part) {
            double const low = *std::min_element(part.begin(), part.end()),
                         high = *std::max_element(part.begin(), part.end());
            for (std::size_t i = 0; i < part.size(); ++i) {
                wanted[i % wanted.size()] += (part[i] - low) / (high - low);
            }
        };
        std::vector<double> of_input, of_layer;
        for (std::size_t p = 0; p < side * side; ++p) {
            std::size_t const i = n * side * side + p;
            of_input.push_back(
                std::abs(static_cast<double>(net.input[i]) * static_cast<double>(net.input_gradient[i])));
        }
        for (std::size_t i = 0; i < channels * side * side; ++i) {
            of_layer.push_back(std::abs(static_cast<double>(net.bias[i / (side * side)]) *
                                        static_cast<double>(net.hidden_gradient[n * channels * side * side + i])));
        }
        add(of_input), add(of_layer);
        double const low = *std::min_element(wanted.begin(), wanted.end()),
                     high = *std::max_element(wanted.begin(), wanted.end());
        for (std::size_t p = 0; p < side * side; ++p) {
            CHECK(static_cast<double>(maps->of(n)[p]) == Approx((wanted[p] - low) / (high - low)).margin(1e-6));
        }
    }
}

TEST_CASE("saliency: a part that is smaller than the input is enlarged between the middles of its pixels") {
    temporary_folder const folder;
    hook watch{folder / "run", keep_all};
    std::vector<float> const input(16, 1), none(16, 0), coarse{0, 0, 0, 1}, bias{2}, output{2};
    watch.begin(predict(0));
    watch.observe("input", view_of(input, {1, 4, 4}));
    watch.observe("grad/input", view_of(none, {1, 4, 4}));
    watch.observe("bias/conv", bias);
    watch.observe("grad/conv", view_of(coarse, {1, 1, 2, 2}));
    watch.observe("explained", output);
    (void)watch.end();
    watch.finish();
    auto const maps = full_gradients(open(folder / "run"), predict(0));
    REQUIRE(maps);
    float const line[] = {0, 0.25F, 0.75F, 1};
    for (std::size_t y = 0; y < 4; ++y) {
        for (std::size_t x = 0; x < 4; ++x) { CHECK(maps->values[4 * y + x] == Approx(line[y] * line[x])); }
    }
    CHECK(maps->incompleteness() == 0);
}

TEST_CASE("saliency: a layer along one axis, or three, counts in the sum and draws nothing") {
    std::vector<float> const input(8, 1), gradient(8, 0), along{1, 2, 3, 4, 5, 6}, bias{0.5F, 2}, output{33};
    for (extents const& sizes : {extents{1, 2, 3}, extents{1, 2, 1, 1, 3}}) {
        temporary_folder const folder;
        hook watch{folder / "run", keep_all};
        watch.begin(predict(0));
        watch.observe("input", view_of(input, {1, 2, 2, 2}));
        watch.observe("grad/input", view_of(gradient, {1, 2, 2, 2}));
        watch.observe("bias/conv", bias);
        watch.observe("grad/conv", view_of(along, sizes));
        watch.observe("explained", output);
        (void)watch.end();
        watch.finish();
        auto const maps = full_gradients(open(folder / "run"), predict(0));
        REQUIRE(maps);
        CHECK(maps->parts[0] == 0.5 * 6 + 2 * 15);
        CHECK(maps->incompleteness() == 0);
        CHECK(maps->values == std::vector<float>(4, 0));
    }
}

TEST_CASE("saliency: what was not recorded is named") {
    two_layers const net;
    for (std::string const missing : {"input", "grad/input", "grad/conv", "explained"}) {
        temporary_folder const folder;
        hook watch{folder / "run", keep_all};
        net.record(watch, predict(0), missing);
        watch.finish();
        auto const maps = full_gradients(open(folder / "run"), predict(0));
        REQUIRE_FALSE(maps);
        CHECK(maps.error().code == errc::no_such_name);
        CHECK(maps.error().what.view().find(missing) != std::string_view::npos);
    }
    temporary_folder const folder;
    hook watch{folder / "run", keep_all};
    net.record(watch, predict(0), "bias/conv");  // the parts do not add up, and a number reports it
    watch.begin(predict(1));
    watch.observe("input", view_of(net.input, {samples, 1, side, side}));
    watch.observe("grad/input", view_of(net.input_gradient, {samples, 1, side, side}));
    watch.observe("explained", net.output);
    (void)watch.end();
    watch.begin(predict(2));
    watch.observe("input", view_of(net.input, {samples, 1, side, side}));
    watch.observe("grad/input", view_of(net.input_gradient, {samples, 1, side, side}));
    watch.observe("explained", view_of(net.input, {samples * side * side}));
    (void)watch.end();
    watch.finish();
    trial const run = open(folder / "run");
    auto const without = full_gradients(run, predict(0));
    REQUIRE(without);
    CHECK(without->incompleteness() > 0.1);
    CHECK(full_gradients(run, predict(1)).error().code == errc::no_such_name);  // no bias at all
    CHECK(full_gradients(run, predict(2)).error().code == errc::no_shape);
    CHECK(full_gradients(run, predict(7)).error().code == errc::no_such_step);
}

TEST_CASE("saliency: no sample, only zeros, and NaN make maps of zeros") {
    temporary_folder const folder;
    hook watch{folder / "run", keep_all};
    std::vector<float> const blank(8, 0), bias{1}, output{0, 0};
    std::vector<float> const spoilt(8, std::numeric_limits<float>::quiet_NaN()), nothing;
    for (std::uint64_t i = 0; i < 2; ++i) {
        watch.begin(predict(i));
        watch.observe("input", view_of(i == 0 ? blank : spoilt, {2, 2, 2}));
        watch.observe("grad/input", view_of(blank, {2, 2, 2}));
        watch.observe("bias/conv", bias);
        watch.observe("grad/conv", view_of(blank, {2, 1, 2, 2}));
        watch.observe("explained", output);
        (void)watch.end();
    }
    watch.finish();
    trial const run = open(folder / "run");
    for (std::uint64_t i = 0; i < 2; ++i) {
        auto const maps = full_gradients(run, predict(i));
        REQUIRE(maps);
        CHECK(maps->values == blank);
        CHECK(maps->incompleteness() == 0);
    }
}
