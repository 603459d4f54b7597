// SPDX-License-Identifier: Apache-2.0
// A loss that is clamped where raw inputs saturate it: no gradient is accused, and the first line names the inputs.
#include <spotter/core/narrow.hpp>
#include <spotter/preflight.hpp>

#include <tests/catch.hpp>
#include <tests/preflight/net.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace spotter;
using namespace preflight_test;

namespace {

// A softmax regression on pixels that goes by p - y, as every textbook has it, and keeps its logarithm from zero.
struct clamped_classifier {
    static constexpr std::size_t in = 12, classes = 4, samples = 16;
    std::vector<float> w = std::vector<float>(in * classes), b = std::vector<float>(classes), gw = w, gb = b,
                       x = std::vector<float>(samples * in), p = std::vector<float>(samples * classes);
    bool adds, shows_inputs = true;
    float slope = 1, rate = 1e-5F;

    explicit clamped_classifier(bool adds_to_it, float white = 255) : adds{adds_to_it} {
        prng random;
        for (float& each : w) { each = static_cast<float>(0.4 * random.next()); }
        for (float& each : x) { each = std::round(255 * static_cast<float>(random.next() * 0.5 + 0.5)) * white / 255; }
    }
    double forward_backward() {
        gw.assign(gw.size(), 0.0F), gb.assign(gb.size(), 0.0F);
        double loss = 0;
        for (std::size_t i = 0; i < samples; ++i) {
            float* const of = &p[i * classes];
            for (std::size_t j = 0; j < classes; ++j) {
                of[j] = b[j];
                for (std::size_t k = 0; k < in; ++k) { of[j] += x[i * in + k] * w[k * classes + j]; }
            }
            float const top = *std::max_element(of, of + classes);
            float total = 0;
            for (std::size_t j = 0; j < classes; ++j) { total += of[j] = std::exp(of[j] - top); }
            for (std::size_t j = 0; j < classes; ++j) { of[j] /= total; }
            float const right = of[i % classes];
            loss -= static_cast<double>(std::log(adds ? right + 1e-8F : (std::max)(right, 1e-7F))) / samples;
            for (std::size_t j = 0; j < classes; ++j) {
                float const d = slope * (of[j] - (j == i % classes ? 1.0F : 0.0F)) / samples;
                gb[j] += d;
                for (std::size_t k = 0; k < in; ++k) { gw[k * classes + j] += x[i * in + k] * d; }
            }
        }
        return loss;
    }
    void update() {
        for (std::size_t i = 0; i < w.size(); ++i) { w[i] -= rate * gw[i]; }
        for (std::size_t i = 0; i < b.size(); ++i) { b[i] -= rate * gb[i]; }
    }
};
template <class Visit>
void visit_tensors(clamped_classifier const& it, Visit visit) {
    visit("fc/w", view_of(it.w, {clamped_classifier::in, clamped_classifier::classes})), visit("fc/b", it.b),
        visit("grad/fc/w", it.gw), visit("grad/fc/b", it.gb);
    if (it.shows_inputs) { visit("input", view_of(it.x, {clamped_classifier::samples, clamped_classifier::in})); }
}

// y = tanh(x w + b), squares; its backward pass forgets the slope 1 - y^2, which is near to one at small weights.
struct tanh_layer {
    static constexpr std::size_t in = 6, out = 2, samples = 16;
    std::vector<float> w = std::vector<float>(in * out), b = std::vector<float>(out), gw = w, gb = b,
                       x = std::vector<float>(samples * in);
    bool forgets = true;

    tanh_layer(float weight, float input, std::uint64_t seed) {
        prng random;
        random.state += seed * 977;
        for (float& each : w) { each = weight * static_cast<float>(random.next()); }
        for (float& each : x) { each = input * static_cast<float>(random.next()); }
    }
    double forward_backward() {
        gw.assign(gw.size(), 0.0F), gb.assign(gb.size(), 0.0F);
        double loss = 0;
        for (std::size_t i = 0; i < samples; ++i) {
            for (std::size_t j = 0; j < out; ++j) {
                float y = b[j];
                for (std::size_t k = 0; k < in; ++k) { y += x[i * in + k] * w[k * out + j]; }
                y = std::tanh(y);
                float const gap = y - (x[i * in + j] > 0 ? 0.8F : -0.8F);
                loss += static_cast<double>(gap) * static_cast<double>(gap) / samples;
                float const d = 2 * gap * (forgets ? 1.0F : 1 - y * y) / samples;
                gb[j] += d;
                for (std::size_t k = 0; k < in; ++k) { gw[k * out + j] += x[i * in + k] * d; }
            }
        }
        return loss;
    }
    void update() {
        for (std::size_t i = 0; i < w.size(); ++i) { w[i] -= 0.05F * gw[i]; }
        for (std::size_t i = 0; i < b.size(); ++i) { b[i] -= 0.05F * gb[i]; }
    }
};
template <class Visit>
void visit_tensors(tanh_layer const& it, Visit visit) {
    visit("fc/w", view_of(it.w, {tanh_layer::in, tanh_layer::out})), visit("fc/b", it.b), visit("grad/fc/w", it.gw),
        visit("grad/fc/b", it.gb);
}

}  // namespace

TEST_CASE("a slope of tanh that is left out is a wrong gradient, though it is right at small weights") {
    for (float const weight : {0.7F, 1.4F, 2.8F}) {
        for (float const input : {1.0F, 3.0F}) {
            for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                tanh_layer net{weight, input, seed};
                preflight_result const found = examined(net);
                CAPTURE(weight, input, seed);
                INFO(found);
                CHECK(found.find(preflight_cause::loss_flat) == nullptr);
                CHECK(found.count(gradient_proof::wrong) > 0);
                CHECK(found.decision() == decision::stop);
                net.forgets = false;
                CHECK(!examined(net));
            }
        }
    }
}

TEST_CASE("a loss that is clamped where raw inputs saturate it accuses no gradient") {
    for (bool const adds : {true, false}) {
        CAPTURE(adds);
        clamped_classifier net{adds};
        preflight_result const found = examined(net);
        INFO(found);
        CHECK(found.first() == preflight_cause::input_not_normalized);
        CHECK(found.all()[0].finding.severity == severity::warning);
        CHECK(found.count(gradient_proof::not_proven) == 2);  // a last slope that is left out looks the same
        REQUIRE(found.find(preflight_cause::loss_flat) != nullptr);
        CHECK(found.find(preflight_cause::loss_flat)->finding.severity == severity::info);
        net.shows_inputs = false;
        preflight_result const unseen = examined(net);
        INFO(unseen);
        CHECK(unseen.first() == preflight_cause::loss_flat);
        CHECK(unseen.decision() == decision::proceed);
        CHECK(unseen.count(gradient_proof::wrong) == 0);
        clamped_classifier negated{adds};
        negated.slope = -1;
        CHECK(examined(negated).first() == preflight_cause::negated_gradient);
        clamped_classifier scaled{adds, 1};
        scaled.rate = 0.1F;
        CHECK(!examined(scaled));
    }
}
