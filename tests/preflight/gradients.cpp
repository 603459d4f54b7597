// SPDX-License-Identifier: Apache-2.0
// Gradients: right, wrong with the mistake and its place, or not proven.
#include <spotter/core/narrow.hpp>
#include <spotter/preflight.hpp>

#include <tests/catch.hpp>
#include <tests/preflight/deep.hpp>
#include <tests/preflight/net.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace spotter;
using namespace preflight_test;

namespace {

// Examines a perceptron whose gradients are spoiled.
preflight_result with(std::function<void(perceptron<>&)> spoils, std::size_t batch = 0) {
    perceptron<> net;
    net.spoils = std::move(spoils);
    preflight_options<perceptron<>> choices;
    choices.batch = batch;
    return examined(net, choices);
}
template <class Values>
void scale(Values& values, float by) {
    for (float& each : values) { each *= by; }
}

}  // namespace

TEST_CASE("a right net is silent, every gradient is proven, and that takes sixty passes at most") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        perceptron<> net{seed};
        preflight_result const found = examined(net);
        CHECK(!found);
        CHECK(found.first() == preflight_cause::none);
        CHECK(found.decision() == decision::proceed);
        CHECK(found.count(gradient_proof::right) == 5);
        CHECK(found.passes() <= 60);
        for (auto const& each : found.gradients()) { CHECK(each.error < 0.03); }
    }
}

TEST_CASE("gradients of double are held to a tighter limit by themselves") {
    perceptron<double> right;
    preflight_result const fine = examined(right);
    CHECK(fine.count(gradient_proof::right) == 5);
    for (auto const& each : fine.gradients()) { CHECK(each.error < 1e-4); }
    perceptron<double> off;
    off.spoils = [](auto& it) {
        for (double& each : it.g2.values) { each *= 1.01; }
    };
    preflight_result const found = examined(off);
    CHECK(found.first() == preflight_cause::inexact_gradient);
    CHECK(verdict_on(found, "fc2/w").gradient == gradient_proof::wrong);
    CHECK(verdict_on(found, "fc2/w").error == Approx(0.01).margin(0.007));
    CHECK(verdict_on(found, "fc1/w").gradient == gradient_proof::right);
}

TEST_CASE("a sign and a factor that all gradients share are one cause, with the number") {
    auto const times = [](float by) {
        return with([=](perceptron<>& it) {
            for (auto* const each : it.gradients()) { scale(*each, by); }
        });
    };
    preflight_result const negated = times(-1);
    CHECK(negated.first() == preflight_cause::negated_gradient);
    CHECK(negated.all()[0].finding.measured == Approx(-1).margin(0.05));
    CHECK(negated.all()[0].finding.tensor == "all");
    CHECK(negated.decision() == decision::stop);
    preflight_result const half = times(0.5F);
    CHECK(half.first() == preflight_cause::wrong_factor);
    CHECK(half.all()[0].finding.severity == severity::warning);
    preflight_result const total = times(16);
    CHECK(total.first() == preflight_cause::sum_for_mean);
    CHECK(total.all()[0].finding.measured == Approx(16).epsilon(0.05));
    CHECK(times(1.0F / 16).first() == preflight_cause::mean_for_sum);
    perceptron<> said;  // what is meant
    said.spoils = [](perceptron<>& it) {
        for (auto* const each : it.gradients()) { scale(*each, 1024); }
    };
    said.updates = [](perceptron<>& it) {
        for (std::size_t k = 0; k < 5; ++k) {
            for (std::size_t i = 0; i < it.weights()[k]->size(); ++i) {
                (*it.weights()[k])[i] -= 0.1F / 1024 * (*it.gradients()[k])[i];
            }
        }
    };
    CHECK(!examined(said, {.loss_scale = 1024}));
}

TEST_CASE("one wrong tensor is named with its mistake, and the others are right") {
    auto const second = [](auto change) { return with([=](perceptron<>& it) { change(it.g2); }); };
    SECTION("transposed") {
        preflight_result const found = second([](matrix<float>& g) {
            matrix<float> const old = g;
            for (std::size_t r = 0; r < g.rows; ++r) {
                for (std::size_t c = 0; c < g.cols; ++c) { g(r, c) = old(c, r); }
            }
        });
        CHECK(found.first() == preflight_cause::wrong_backward);
        CHECK(found.all()[0].finding.tensor == "fc2/w");
        CHECK(found.all()[0].finding.detail.view() == "it is transposed");
        CHECK(found.count(gradient_proof::wrong) == 1);
        CHECK(found.count(gradient_proof::right) == 4);
    }
    SECTION("rows shifted") {
        preflight_result const found =
            second([](matrix<float>& g) { std::rotate(g.values.begin(), g.values.begin() + 8, g.values.end()); });
        CHECK(found.first() == preflight_cause::wrong_backward);
        CHECK(found.all()[0].finding.detail.view() == "it is shifted by a row: row 0 holds that of row 1");
    }
    SECTION("a row missing, with its number") {
        preflight_result const found = second([](matrix<float>& g) { std::fill_n(g.values.begin() + 5 * 8, 8, 0.0F); });
        CHECK(found.first() == preflight_cause::wrong_backward);
        CHECK(found.all()[0].finding.detail.view() == "it is wrong in row 5 of 8");
    }
    SECTION("negated") {
        preflight_result const found = second([](matrix<float>& g) { scale(g.values, -1); });
        CHECK(found.first() == preflight_cause::negated_gradient);
        CHECK(found.all()[0].finding.tensor == "fc2/w");
    }
    SECTION("a multiple") {
        preflight_result const found = second([](matrix<float>& g) { scale(g.values, 3); });
        CHECK(found.first() == preflight_cause::wrong_backward);
        CHECK(found.all()[0].finding.detail.view().starts_with("it is 3"));
    }
    SECTION("none") {
        preflight_result const found = second([](matrix<float>& g) { scale(g.values, 0); });
        CHECK(found.first() == preflight_cause::missing_gradient);
        CHECK(found.all()[0].finding.tensor == "fc2/w");
    }
    SECTION("that of another tensor") {
        preflight_result const found = with([](perceptron<>& it) { std::swap(it.gb1, it.gb2); });
        CHECK(found.first() == preflight_cause::wrong_backward);
        CHECK(found.all()[0].finding.detail.view() == "it is that of fc2/b");
        CHECK(found.count(gradient_proof::wrong) == 2);
    }
}

TEST_CASE("what is wrong up to a layer is placed between the last that is wrong and the first that is right") {
    preflight_result const slope = with([](perceptron<>& it) {  // as if the slope of the first tanh were forgotten
        for (std::size_t i = 0; i < it.g1.size(); ++i) { it.g1.values[i] *= 1 + 0.5F * static_cast<float>(i % 5); }
        for (std::size_t i = 0; i < it.gb1.size(); ++i) { it.gb1[i] *= 1 + 0.7F * static_cast<float>(i % 3); }
    });
    CHECK(slope.first() == preflight_cause::wrong_backward);
    CHECK(slope.all()[0].finding.tensor == "fc1/b");
    CHECK(slope.all()[0].finding.detail.view().starts_with("between fc1/b and fc2/w"));
    CHECK(slope.all()[0].finding.others == 1);
    preflight_result const detached = with([](perceptron<>& it) { scale(it.g1.values, 0), scale(it.gb1, 0); });
    CHECK(detached.first() == preflight_cause::detached);
    CHECK(detached.all()[0].finding.detail.view() == "between fc1/b and fc2/w");
    preflight_result const nothing = with([](perceptron<>& it) { it.clear(); });
    CHECK(nothing.first() == preflight_cause::no_gradient);
    preflight_result const loss = with([](perceptron<>& it) {
        for (auto* const each : it.gradients()) {
            for (std::size_t i = 0; i < each->size(); ++i) { (*each)[i] *= i % 2 == 0 ? -2.0F : 0.5F; }
        }
    });
    CHECK(loss.first() == preflight_cause::wrong_loss_gradient);
}

TEST_CASE("a decay in the gradients and clipping in the pass are habits, reported as notes with their numbers") {
    preflight_result const decay = with([](perceptron<>& it) {
        for (std::size_t k = 0; k < 5; ++k) {
            for (std::size_t i = 0; i < it.gradients()[k]->size(); ++i) {
                (*it.gradients()[k])[i] += 0.02F * (*it.weights()[k])[i];
            }
        }
    });
    CHECK(!decay);
    REQUIRE(decay.find(preflight_cause::decay_in_gradient) != nullptr);
    CHECK(decay.find(preflight_cause::decay_in_gradient)->finding.measured == Approx(0.02).epsilon(0.05));
    CHECK(decay.count(gradient_proof::right) == 5);
    preflight_result const clipped = with([](perceptron<>& it) {
        double square = 0;
        for (auto* const each : it.gradients()) {
            for (float g : *each) { square += static_cast<double>(g) * static_cast<double>(g); }
        }
        for (auto* const each : it.gradients()) { scale(*each, static_cast<float>(0.01 / std::sqrt(square))); }
    });
    CHECK(!clipped);
    CHECK(clipped.find(preflight_cause::clipped_gradient) != nullptr);
    for (float const limit : {0.06F, 0.005F}) {  // few elements, nearly all of them
        preflight_result const cut = with([=](perceptron<>& it) {
            for (auto* const each : it.gradients()) {
                for (float& g : *each) { g = std::clamp(g, -limit, limit); }
            }
        });
        CAPTURE(limit);
        CHECK(!cut);
        CHECK(cut.find(preflight_cause::clipped_gradient) != nullptr);
    }
    preflight_result const one =
        with([](perceptron<>& it) { it.g3.values[4] = 5; });  // one that stands at a round number
    CHECK(one.count(gradient_proof::right) == 5);
    CHECK(one.find(preflight_cause::clipped_gradient) != nullptr);
}

TEST_CASE(
    "units that are dead for every sample are reported with their weights, and a bias that cannot matter is none") {
    struct dead : perceptron<> {};
    perceptron<> net;
    net.before_loss = [](perceptron<>& it) { scale(it.logits.values, 0); };  // nothing reaches the loss
    net.spoils = [](perceptron<>& it) { it.clear(); };
    preflight_result const found = examined(net);
    CHECK(found.first() == preflight_cause::no_effect);
    CHECK(found.all()[0].finding.tensor == "fc1/w");
}

namespace {

// y = w x with a softmax over what all outputs share: a bias has no effect.
struct normalised {
    std::vector<float> w = {0.3F, -0.2F, 0.5F, 0.7F}, b = {0.1F}, gw = std::vector<float>(4),
                       gb = std::vector<float>(1);
    float forward_backward() {
        gw.assign(4, 0.0F), gb.assign(1, 0.0F);
        float z[4], total = 0;
        for (std::size_t i = 0; i < 4; ++i) { total += z[i] = std::exp(w[i] * static_cast<float>(i + 1) + b[0]); }
        float loss = -std::log(z[2] / total);
        for (std::size_t i = 0; i < 4; ++i) {
            float const d = z[i] / total - (i == 2 ? 1.0F : 0.0F);
            gw[i] += d * static_cast<float>(i + 1), gb[0] += d;
        }
        return loss;
    }
    void update() {
        for (std::size_t i = 0; i < 4; ++i) { w[i] -= 0.1F * gw[i]; }
        b[0] -= 0.1F * gb[0];
    }
};
template <class Visit>
void visit_tensors(normalised const& it, Visit visit) {
    visit("w", it.w), visit("b", it.b), visit("grad/w", it.gw), visit("grad/b", it.gb);
}

// Weights of bf16, sums in float.
struct low {
    std::vector<bf16> w = std::vector<bf16>(12);
    std::vector<float> g = std::vector<float>(12);
    float sign = 1;
    std::size_t off = 12;  // an element whose gradient is off by as much as all are long
    low() {
        for (std::size_t i = 0; i < 12; ++i) { w[i] = detail::to_bf16(0.05F * static_cast<float>(i) - 0.3F); }
    }
    float forward_backward() {
        float loss = 0;
        g.assign(12, 0.0F);
        for (std::size_t s = 0; s < 20; ++s) {
            float total = 0;
            auto const x = [&](std::size_t i) { return std::sin(static_cast<float>(3 * s + 5 * i)); };
            for (std::size_t i = 0; i < 12; ++i) { total += x(i) * to_float(w[i]); }
            float const gap = std::tanh(total) - std::cos(static_cast<float>(s));
            loss += gap * gap / 20;
            for (std::size_t i = 0; i < 12; ++i) {
                g[i] += sign * 2 * gap * (1 - std::tanh(total) * std::tanh(total)) * x(i) / 20;
            }
        }
        float square = 0;
        for (float const each : g) { square += each * each; }
        if (off < 12) { g[off] += std::sqrt(square); }
        return loss;
    }
    void update() {
        for (std::size_t i = 0; i < 12; ++i) { w[i] = detail::to_bf16(to_float(w[i]) - 0.1F * g[i]); }
    }
};
template <class Visit>
void visit_tensors(low const& it, Visit visit) {
    visit("w", it.w), visit("grad/w", it.g);
}

}  // namespace

TEST_CASE("a bias without effect has neither gradient nor derivative, and that is right") {
    normalised net;
    preflight_result const found = examined(net);
    CHECK(!found);
    CHECK(verdict_on(found, "b").gradient == gradient_proof::right);
}

TEST_CASE("weights of bf16 are examined on their own numbers") {
    low right;
    preflight_result const fine = examined(right);
    CHECK(!fine);
    CHECK(verdict_on(fine, "w").gradient == gradient_proof::right);
    low negated;
    negated.sign = -1;
    CHECK(examined(negated).first() == preflight_cause::negated_gradient);
}

TEST_CASE("the error of a single element is proven, whichever it is") {
    for (std::size_t i = 0; i < 12; ++i) {
        CAPTURE(i);
        low one;
        one.off = i;
        CHECK(verdict_on(examined(one), "w").gradient == gradient_proof::wrong);
        preflight_result const wrong = with([=](perceptron<>& it) { it.g3.values[2 * i] = 0.3217F; });
        CHECK(verdict_on(wrong, "fc3/w").gradient == gradient_proof::wrong);
    }
}

TEST_CASE("a gradient that drowns in the rounding of the loss is not proven, and is said to be") {
    perceptron<> net;
    net.rate = 1e3F;
    net.before_loss = [](perceptron<>& it) {  // a part of the loss ten million times as large as what the weights do
        for (float& each : it.logits.values) { each = each * 1e-6F; }
    };
    net.spoils = [](perceptron<>& it) {
        for (auto* const each : it.gradients()) { scale(*each, 1e-6F); }
    };
    preflight_result const found = examined(net);
    CHECK(found.count(gradient_proof::wrong) == 0);
    CHECK(found.count(gradient_proof::not_proven) > 0);
    REQUIRE(found.find(preflight_cause::not_proven) != nullptr);
    CHECK(found.find(preflight_cause::not_proven)->finding.severity == severity::info);
    CHECK(found.find(preflight_cause::not_proven)->finding.detail.view() ==
          "its derivative is too small beside the rounding of the loss");
}

namespace {

// The same perceptron, shown with flags.
struct flagged {
    perceptron<> net{};
    flag of_gradients = flag::none, of_first = flag::none;
    double forward_backward() { return net.forward_backward(); }
    void update() { net.update(); }
};
template <class Visit>
void visit_tensors(flagged const& it, Visit visit) {
    visit("fc1/w", it.net.w1, it.of_first), visit("fc1/b", it.net.b1, it.of_first), visit("fc2/w", it.net.w2),
        visit("fc2/b", it.net.b2), visit("fc3/w", it.net.w3);
    visit("grad/fc1/w", it.net.g1, it.of_gradients), visit("grad/fc1/b", it.net.gb1, it.of_gradients),
        visit("grad/fc2/w", it.net.g2, it.of_gradients);
    visit("grad/fc2/b", it.net.gb2, it.of_gradients), visit("grad/fc3/w", it.net.g3, it.of_gradients);
}

}  // namespace

TEST_CASE("gradients clipped by their norm are no mistake, also where the passes are used up") {
    auto const clip = [](deep_net<float>& net) {
        double square = 0;
        auto const each = [&](auto use) {
            for (auto& layer : net.layers) { use(layer.grad_w), use(layer.grad_b); }
        };
        each([&](auto const& g) { square += std::inner_product(g.begin(), g.end(), g.begin(), 0.0); });
        each([&](auto& g) { scale(g, static_cast<float>(0.01 / std::sqrt(square))); });
    };
    struct clipped : deep_net<float> {
        using deep_net<float>::deep_net;
        decltype(clip) const* by = nullptr;
        double forward_backward() {
            double const loss = deep_net<float>::forward_backward();
            (*by)(*this);
            return loss;
        }
    };
    struct start {
        std::uint64_t seed;
        float share;
        std::uint32_t passes;
    };
    // The budget ends while it is searched which gradients differ from the derivative: all do, by the same factor.
    for (auto const& [seed, share, passes] : {start{81, 2.5F, 110}, start{1, 0.05F, 40}}) {
        clipped net{18, activation::kinked, seed};
        net.by = &clip, net.share = share;
        preflight_options<clipped> choices;
        choices.forwards = passes;
        preflight_result const found = examined(net, choices);
        INFO(seed << '\n' << found);
        CHECK(found.decision() == decision::proceed);
        CHECK(found.find(preflight_cause::wrong_backward) == nullptr);
    }
}

TEST_CASE("what a flag says of a tensor is believed") {
    flagged it;
    SECTION("minus the gradient, which the update adds") {
        it.of_gradients = flag::negated;
        it.net.rate = -0.1F;
        it.net.spoils = [](perceptron<>& of) {
            for (auto* const each : of.gradients()) { scale(*each, -1); }
        };
        preflight_result const found = examined(it);
        CHECK(!found);
        CHECK(found.count(gradient_proof::right) == 5);
    }
    SECTION("a buffer that keeps what was there") {
        it.of_gradients = flag::gathered;
        it.net.clears = false;
        preflight_result const found = examined(it);
        CHECK(!found);
        CHECK(found.count(gradient_proof::right) == 5);
    }
    SECTION("frozen: neither its gradient nor its update is asked for") {
        it.of_first = flag::frozen;
        it.net.spoils = [](perceptron<>& of) { scale(of.g1.values, 0), scale(of.gb1, 0); };
        it.net.updates = [](perceptron<>& of) {
            for (std::size_t i = 0; i < of.w2.size(); ++i) { of.w2.values[i] -= 0.1F * of.g2.values[i]; }
            for (std::size_t i = 0; i < of.b2.size(); ++i) { of.b2[i] -= 0.1F * of.gb2[i]; }
            for (std::size_t i = 0; i < of.w3.size(); ++i) { of.w3.values[i] -= 0.1F * of.g3.values[i]; }
        };
        preflight_result const found = examined(it);
        CHECK(!found);
        CHECK(found.count(gradient_proof::right) == 3);
        CHECK(verdict_on(found, "fc1/w").frozen);
    }
}

namespace {

// A policy that plays: what it is shown depends on what it did, so its loss jumps with its weights.
struct player {
    std::vector<float> w = {0.4F, -0.3F, 0.2F, 0.1F, 0.5F, -0.2F}, b = {0.1F, -0.1F}, gw = std::vector<float>(6),
                       gb = std::vector<float>(2);
    prng random{};
    float sign = 1;
    double forward_backward() {
        gw.assign(6, 0.0F), gb.assign(2, 0.0F);
        float place = 0.3F, speed = 0, loss = 0;
        for (int t = 0; t < 150; ++t) {
            float const x[] = {place, speed, std::sin(static_cast<float>(t))};
            float z[2] = {b[0], b[1]};
            for (std::size_t a = 0; a < 2; ++a) {
                for (std::size_t i = 0; i < 3; ++i) { z[a] += w[3 * a + i] * x[i]; }
            }
            float const p = 1 / (1 + std::exp(z[0] - z[1]));
            std::size_t const action = random.next() * 0.5 + 0.5 < static_cast<double>(p) ? 1 : 0;
            speed = 0.8F * speed + (action == 1 ? 0.2F : -0.2F), place = 0.9F * place + speed;
            float const reward = 1 - place * place;
            loss -= reward * std::log(action == 1 ? p : 1 - p) / 150;
            for (std::size_t a = 0; a < 2; ++a) {
                float const d = sign * reward * ((a == 1 ? p : 1 - p) - (a == action ? 1.0F : 0.0F)) / 150;
                gb[a] += d;
                for (std::size_t i = 0; i < 3; ++i) { gw[3 * a + i] += d * x[i]; }
            }
        }
        return static_cast<double>(loss);
    }
    void update() {
        for (std::size_t i = 0; i < 6; ++i) { w[i] -= 0.1F * gw[i]; }
        for (std::size_t i = 0; i < 2; ++i) { b[i] -= 0.1F * gb[i]; }
    }
};
template <class Visit>
void visit_tensors(player const& it, Visit visit) {
    visit("pi/w", it.w), visit("pi/b", it.b), visit("grad/pi/w", it.gw), visit("grad/pi/b", it.gb);
}

// The contrastive loss of pairs in float. The bias cancels in the distance of a pair, but for rounding.
struct pairs {
    static constexpr std::size_t count = 10, in = 7, out = 3;
    std::vector<float> w = std::vector<float>(in * out), gw = w, b = std::vector<float>(out), gb = b;
    std::vector<float> x = std::vector<float>(2 * count * in);

    explicit pairs(std::uint64_t seed) {
        prng random;
        random.state += seed * 977;
        for (float& each : w) { each = static_cast<float>(random.next()); }
        for (float& each : x) { each = static_cast<float>(2 * random.next()); }
    }
    double forward_backward() {
        scale(gw, 0), scale(gb, 0);
        float loss = 0;
        for (std::size_t pair = 0; pair < count; ++pair) {
            float const* const both[] = {&x[2 * pair * in], &x[(2 * pair + 1) * in]};
            float z[2][out] = {}, apart[out] = {}, square = 1e-6F;
            for (std::size_t j = 0; j < out; ++j) {
                for (std::size_t side = 0; side < 2; ++side) {
                    for (std::size_t i = 0; i < in; ++i) { z[side][j] += both[side][i] * w[i * out + j]; }
                    z[side][j] += b[j];
                }
                apart[j] = z[0][j] - z[1][j];
                square += apart[j] * apart[j];
            }
            float const distance = std::sqrt(square), gap = (std::max)(0.0F, 2 - distance);
            loss += (pair % 2 == 0 ? square : gap * gap) / count;
            float const slope = (pair % 2 == 0 ? 2.0F : -2 * gap / distance) / count;
            for (std::size_t k = 0; k < in * out; ++k) {
                gw[k] += slope * apart[k % out] * (both[0][k / out] - both[1][k / out]);
            }
        }
        return static_cast<double>(loss);
    }
    void update() {
        for (std::size_t k = 0; k < w.size(); ++k) { w[k] -= 0.05F * gw[k]; }
    }
};
template <class Visit>
void visit_tensors(pairs const& it, Visit visit) {
    visit("e/w", view_of(it.w, {pairs::in, pairs::out})), visit("e/b", it.b);
    visit("grad/e/w", view_of(it.gw, {pairs::in, pairs::out})), visit("grad/e/b", it.gb);
}

}  // namespace

TEST_CASE("a bias that cancels but for rounding lacks no gradient, from whatever start") {
    for (std::uint64_t seed = 1601; seed <= 2400; ++seed) {
        pairs net{seed};
        preflight_result const found = examined(net);
        INFO(seed << '\n' << found);
        CHECK(found.count(gradient_proof::wrong) == 0);
    }
}

TEST_CASE("a loss that jumps with its weights proves no gradient wrong") {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        player net;
        net.random.state += seed;
        preflight_result const found = examined(net);
        INFO(found);
        CHECK(found.count(gradient_proof::wrong) == 0);
        CHECK(!found);
    }
}
