// SPDX-License-Identifier: Apache-2.0
// Clearing, and the update: what it moves, where to, by how much.
#include <spotter/core/narrow.hpp>
#include <spotter/preflight.hpp>

#include <tests/catch.hpp>
#include <tests/preflight/net.hpp>

#include <cmath>
#include <vector>

using namespace spotter;
using namespace preflight_test;

namespace {

using net_type = perceptron<>;

// An update that does `move(w, g)` to each element of each tensor that it holds.
template <class Move>
void update_each(net_type& it, Move move, std::size_t without = 99) {
    for (std::size_t k = 0; k < 5; ++k) {
        if (k == without) { continue; }
        for (std::size_t i = 0; i < it.weights()[k]->size(); ++i) {
            move((*it.weights()[k])[i], (*it.gradients()[k])[i], k);
        }
    }
}
preflight_result updated(std::function<void(net_type&)> how) {
    net_type net;
    net.updates = std::move(how);
    return examined(net);
}

// Adam, whose moments are part of the net.
struct adam_net {
    net_type net{};
    std::vector<double> m = std::vector<double>(500), v = m;
    int steps = 0;
    int warm_up = 0;
    double forward_backward() { return net.forward_backward(); }
    void update() {
        ++steps;
        std::size_t at = 0;
        double const rate = 1e-3 * (warm_up > 0 ? std::fmin(1.0, (steps - 1.0) / warm_up) : 1.0);
        update_each(net, [&](float& w, float g, std::size_t) {
            double const d = static_cast<double>(g);
            m[at] = 0.9 * m[at] + 0.1 * d, v[at] = 0.999 * v[at] + 0.001 * d * d;
            w -= static_cast<float>(rate * m[at] / (1 - std::pow(0.9, steps)) /
                                    (std::sqrt(v[at] / (1 - std::pow(0.999, steps))) + 1e-8));
            ++at;
        });
    }
};
template <class Visit>
void visit_tensors(adam_net const& it, Visit visit) {
    visit_tensors(it.net, visit);
}

// Weights of bf16 that follow a copy in float.
struct master_net {
    std::vector<float> master = std::vector<float>(10), g = master;
    std::vector<bf16> w{};
    std::vector<float> offset = {0.3F, -0.2F}, goffset = std::vector<float>(2);  // shown as frozen, where it rests
    float rate = 0.01F;
    bool rests = false;
    master_net() {
        for (std::size_t i = 0; i < 10; ++i) { master[i] = 0.1F * static_cast<float>(i) - 0.4F; }
        lower();
    }
    void lower() {
        w.clear();
        for (float each : master) { w.push_back(detail::to_bf16(each)); }
    }
    float forward_backward() {
        g.assign(10, 0.0F);
        float loss = 0;
        for (std::size_t s = 0; s < 15; ++s) {
            float total = -std::sin(static_cast<float>(s));
            for (std::size_t i = 0; i < 10; ++i) {
                total += to_float(w[i]) * std::cos(static_cast<float>(s * (i + 1)));
            }
            loss += total * total / 15;
            for (std::size_t i = 0; i < 10; ++i) { g[i] += 2 * total * std::cos(static_cast<float>(s * (i + 1))) / 15; }
        }
        return loss;
    }
    void update() {
        for (std::size_t i = 0; i < 10; ++i) { master[i] -= rate * g[i]; }
        lower();
    }
};
template <class Visit>
void visit_tensors(master_net const& it, Visit visit) {
    visit("w", it.w), visit("grad/w", it.g);
    if (it.rests) { visit("offset", it.offset, flag::frozen), visit("grad/offset", it.goffset); }
}

}  // namespace

TEST_CASE("gradients that nobody clears are reported, all or the one; what the update clears is a habit") {
    net_type none;
    none.clears = false;
    preflight_result const all = examined(none);
    CHECK(all.first() == preflight_cause::gradient_not_cleared);
    CHECK(all.all()[0].finding.tensor == "gradients");
    CHECK(all.all()[0].finding.measured == Approx(1).margin(0.02));
    CHECK(all.count(gradient_proof::right) == 5);  // which hides no other experiment

    net_type one;
    one.clears = false;
    one.spoils = [kept = matrix<float>{}](net_type&) {};
    one.before_loss = [](net_type& it) {
        for (auto* const g : {&it.g1.values, &it.gb1, &it.gb2, &it.g3.values}) { g->assign(g->size(), 0.0F); }
    };
    preflight_result const part = examined(one);
    CHECK(part.first() == preflight_cause::gradient_not_cleared);
    CHECK(part.all()[0].finding.tensor == "fc2/w");

    net_type later;
    later.clears = false;
    later.updates = [](net_type& it) {
        update_each(it, [](float& w, float g, std::size_t) { w -= 0.1F * g; });
        it.clear();
    };
    preflight_result const habit = examined(later);
    CHECK(!habit);
    CHECK(habit.find(preflight_cause::cleared_by_update) != nullptr);
    CHECK(habit.count(gradient_proof::right) == 5);
}

TEST_CASE(
    "an optimizer that moves and clears what it was given: what it was not given is left out, and that is the cause") {
    net_type net;
    net.clears = false;
    net.updates = [](net_type& it) {
        auto const w = it.weights(), g = it.gradients();
        for (std::size_t k = 0; k < w.size(); ++k) {
            if (k == 2) { continue; }  // fc2/w
            for (std::size_t i = 0; i < w[k]->size(); ++i) { (*w[k])[i] -= 0.1F * (*g[k])[i]; }
            g[k]->assign(g[k]->size(), 0.0F);
        }
    };
    preflight_result const found = examined(net);
    CHECK(found.first() == preflight_cause::dead_update_path);
    CHECK(found.all()[0].finding.tensor == "fc2/w");
    REQUIRE(found.find(preflight_cause::gradient_not_cleared) != nullptr);
    CHECK(found.find(preflight_cause::gradient_not_cleared)->finding.severity == severity::info);

    net.updates = [](net_type& it) {  // moves all, and forgets one in its clearing
        auto const w = it.weights(), g = it.gradients();
        for (std::size_t k = 0; k < w.size(); ++k) {
            for (std::size_t i = 0; i < w[k]->size(); ++i) { (*w[k])[i] -= 0.1F * (*g[k])[i]; }
            if (k != 2) { g[k]->assign(g[k]->size(), 0.0F); }
        }
    };
    preflight_result const forgotten = examined(net);
    CHECK(forgotten.first() == preflight_cause::gradient_not_cleared);
    CHECK(forgotten.all()[0].finding.tensor == "fc2/w");
    CHECK(forgotten.all()[0].finding.others == 0);
}

TEST_CASE("gradients whose memory is taken in the first pass are examined as others") {
    net_type net;
    net.clears = false;
    net.before_loss = [](net_type& it) {
        it.g1 = it.g2 = matrix<float>{8, 8}, it.g1 = matrix<float>{6, 8}, it.g3 = matrix<float>{8, 3};
        it.gb1.assign(8, 0.0F), it.gb2.assign(8, 0.0F);
    };
    net.g1 = net.g2 = net.g3 = matrix<float>{};
    net.gb1.clear(), net.gb2.clear();
    preflight_result const found = examined(net);
    CHECK(!found);
    CHECK(found.count(gradient_proof::right) == 5);
}

TEST_CASE("an update that adds the gradient is reported, of all tensors or of the one") {
    preflight_result const all =
        updated([](net_type& it) { update_each(it, [](float& w, float g, std::size_t) { w += 0.1F * g; }); });
    CHECK(all.first() == preflight_cause::update_direction);
    CHECK(all.all()[0].finding.tensor == "update");
    preflight_result const one = updated([](net_type& it) {
        update_each(it, [](float& w, float g, std::size_t k) { w += k == 3 ? 0.1F * g : -0.1F * g; });
    });
    CHECK(one.first() == preflight_cause::update_direction);
    CHECK(one.all()[0].finding.tensor == "fc2/b");
}

TEST_CASE("who is never moved is reported; so is what moves though it is frozen") {
    preflight_result const one =
        updated([](net_type& it) { update_each(it, [](float& w, float g, std::size_t) { w -= 0.1F * g; }, 2); });
    CHECK(one.first() == preflight_cause::dead_update_path);
    CHECK(one.all()[0].finding.tensor == "fc2/w");
    preflight_result const none = updated([](net_type&) {});
    CHECK(none.first() == preflight_cause::learning_rate_zero);
}

TEST_CASE("the length of an update is judged by the loss along it") {
    auto const rate = [](float of) {
        net_type net;
        net.rate = of;
        return examined(net);
    };
    CHECK(!rate(0.1F));
    CHECK(!rate(0.001F));
    preflight_result const large = rate(300);
    CHECK(large.first() == preflight_cause::learning_rate_too_large);
    preflight_result const small = rate(1e-8F);
    CHECK(small.first() == preflight_cause::learning_rate_too_small);
    CHECK(small.all()[0].finding.severity == severity::warning);
}

TEST_CASE("adaptive steps, momentum and a warm-up from zero are healthy") {
    adam_net adam;
    CHECK(!examined(adam));
    adam_net slow;
    slow.warm_up = 1000;
    preflight_result const found = examined(slow);
    CHECK(!found);
    CHECK(found.find(preflight_cause::warm_up) != nullptr);
}

TEST_CASE("a decay is reported from the step; one that makes weights larger is wrong") {
    CHECK(!updated(
        [](net_type& it) { update_each(it, [](float& w, float g, std::size_t) { w -= 0.1F * g + 0.001F * w; }); }));
    preflight_result const grows = updated(
        [](net_type& it) { update_each(it, [](float& w, float g, std::size_t) { w -= 0.1F * g - 0.001F * w; }); });
    CHECK(grows.first() == preflight_cause::weight_decay_grows);
    CHECK(grows.all()[0].finding.measured == Approx(0.001).epsilon(0.1));
}

TEST_CASE("an update by the size of the weights, which stands still at zero, is examined where they are") {
    auto const norm = [](std::vector<float> const& of) {
        float total = 0;
        for (float each : of) { total += each * each; }
        return std::sqrt(total);
    };
    preflight_result const found = updated([norm](net_type& it) {
        for (std::size_t k = 0; k < 5; ++k) {
            float const size = k % 2 == 1 ? 1.0F : norm(*it.weights()[k]), slope = norm(*it.gradients()[k]);
            for (std::size_t i = 0; i < it.weights()[k]->size(); ++i) {
                (*it.weights()[k])[i] -= 0.01F * size / (slope + 1e-9F) * (*it.gradients()[k])[i];
            }
        }
    });
    INFO(found);
    CHECK(!found);
}

TEST_CASE("weights that follow a finer copy are moved as the copy is, however slowly") {
    master_net right;
    preflight_result const fine = examined(right);
    CHECK(!fine);
    CHECK(verdict_on(fine, "w").gradient == gradient_proof::right);
    master_net slow;
    slow.rate = 2e-4F;  // less than a spacing a step
    CHECK(!examined(slow));
    master_net still;
    still.rate = 0;
    CHECK(examined(still).first() == preflight_cause::learning_rate_zero);
    master_net frozen;  // beside one that rests
    frozen.rests = true;
    preflight_result const beside = examined(frozen);
    INFO(beside);
    CHECK(!beside);
    master_net wrong;
    wrong.rate = -0.01F;
    CHECK(examined(wrong).first() == preflight_cause::update_direction);
}

TEST_CASE("weights that begin alike in every layer are reported, a single layer of zeros is not") {
    net_type net;
    for (auto* const w : net.weights()) { w->assign(w->size(), 0.0F); }
    CHECK(examined(net).first() == preflight_cause::poor_weight_initialization);
    net_type constant;
    for (auto* const w : constant.weights()) { w->assign(w->size(), 0.1F); }
    CHECK(examined(constant).first() == preflight_cause::poor_weight_initialization);
    net_type head;
    head.w3.values.assign(head.w3.size(), 0.0F);
    CHECK(!examined(head));
}
