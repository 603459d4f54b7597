// SPDX-License-Identifier: Apache-2.0
// Loops that cannot be examined as they were handed over: each is named, nothing crashes, the program goes on.
#include <spotter/preflight.hpp>

#include <tests/catch.hpp>
#include <tests/preflight/net.hpp>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace spotter;
using namespace preflight_test;

namespace {

using net_type = perceptron<>;

// y = w x, squares; the smallest net there is.
struct line {
    std::vector<float> w = {0.5F, -0.25F}, g = std::vector<float>(2);
    float forward_backward() {
        g.assign(2, 0.0F);
        float loss = 0;
        for (int s = 0; s < 6; ++s) {
            float const x = static_cast<float>(s) / 5, gap = w[0] * x + w[1] - (1 - x);
            loss += gap * gap / 6;
            g[0] += 2 * gap * x / 6, g[1] += 2 * gap / 6;
        }
        return loss;
    }
    void update() {
        for (std::size_t i = 0; i < 2; ++i) { w[i] -= 0.1F * g[i]; }
    }
};
template <class Visit>
void visit_tensors(line const& it, Visit visit) {
    visit("w", it.w), visit("grad/w", it.g);
}

// The same by pointers that a copy shares.
struct shared_line {
    std::shared_ptr<line> inner = std::make_shared<line>();
    float forward_backward() { return inner->forward_backward(); }
    void update() { inner->update(); }
};
template <class Visit>
void visit_tensors(shared_line const& it, Visit visit) {
    visit_tensors(*it.inner, visit);
}

// An optimizer that points at the weights of the net it was made for: a copy's points at those, too.
struct pointed_line {
    line inner{};
    std::vector<float>* weights = &inner.w;
    std::vector<float>* gradient = &inner.g;
    float forward_backward() { return inner.forward_backward(); }
    void update() {
        for (std::size_t i = 0; i < 2; ++i) { (*weights)[i] -= 0.1F * (*gradient)[i] + 0.01F; }
    }
};
template <class Visit>
void visit_tensors(pointed_line const& it, Visit visit) {
    visit_tensors(it.inner, visit);
}

}  // namespace

TEST_CASE("a copy that shares its memory is found out before anything is touched") {
    shared_line net;
    std::vector<float> const w = net.inner->w, g = net.inner->g;
    preflight_result const found = examined(net);
    CHECK(found.first() == preflight_cause::copy_shares_memory);
    CHECK(found.all()[0].finding.tensor == "w");
    CHECK(found.passes() == 0);
    CHECK(net.inner->w == w);
    CHECK(net.inner->g == g);
}

TEST_CASE("a pass or an update that works on the net itself is reported, and what it changed is put back") {
    line net;
    std::vector<float> const w = net.w;
    preflight_result const by_pass =
        preflight(net, [&net](auto&) { return net.forward_backward(); }, [](auto& it) { it.update(); });
    CHECK(by_pass.first() == preflight_cause::works_on_the_net);
    CHECK(by_pass.all()[0].finding.detail.view() == "it was changed by pass");
    CHECK(net.g == std::vector<float>(2));
    pointed_line pointed;
    preflight_result const by_step = examined(pointed);
    CHECK(by_step.first() == preflight_cause::works_on_the_net);
    CHECK(by_step.all()[0].finding.tensor == "w");
    CHECK(pointed.inner.w == w);
    line const constant{};
    preflight_result const fine = preflight(constant, pass, step);
    CHECK(!fine);
}

#if SPOTTER_EXCEPTIONS
TEST_CASE("what a pass, an update, a copy or a visitor throws is reported, whenever it does") {
    for (int const when : {1, 2, 3, 5, 9, 20, 24}) {
        line net;
        int calls = 0;
        preflight_result const found = preflight(
            net,
            [&](line& it) {
                if (++calls == when) { throw std::runtime_error{"no data"}; }
                return it.forward_backward();
            },
            step);
        CHECK(found.first() == preflight_cause::threw);
        CHECK(found.all()[0].finding.detail.view() == "no data");
    }
    line net;
    preflight_result const by_step = preflight(net, pass, [](line&) { throw 7; });
    CHECK(by_step.first() == preflight_cause::threw);
    struct brittle : line {
        brittle() = default;
        brittle(brittle const& other) : line(other) { throw std::runtime_error{"no copies"}; }
    };
    brittle uncopied;
    CHECK(preflight(uncopied, pass, step).first() == preflight_cause::threw);
}
#endif

TEST_CASE("a loss, a weight or a gradient that is no number ends the examination, with its name") {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    net_type weight;
    weight.b2[3] = nan;
    preflight_result const by_weight = examined(weight);
    CHECK(by_weight.first() == preflight_cause::non_finite);
    CHECK(by_weight.all()[0].finding.tensor == "fc2/b");
    CHECK(by_weight.decision() == decision::stop);
    net_type gradient;
    gradient.spoils = [nan](net_type& it) { it.g1.values[2] = it.gb2[1] = nan; };
    preflight_result const found = examined(gradient);
    CHECK(found.all()[0].finding.tensor == "fc2/b");  // the one nearest to the loss
    line net;
    preflight_result const by_loss = preflight(net, [nan](line&) { return nan; }, step);
    CHECK(by_loss.all()[0].finding.tensor == "loss");
    int calls = 0;  // later on
    preflight_result const later =
        preflight(net, [&](line& it) { return ++calls % 3 == 0 ? nan : it.forward_backward(); }, step);
    CHECK(later.count(gradient_proof::wrong) == 0);
}

TEST_CASE("a loss that draws its numbers from outside is reported; its sign is proven, its gradient is not") {
    prng outside;
    auto const noisy = [&outside](double sign) {
        return [&outside, sign](line& it) {
            float const loss = it.forward_backward();
            for (float& g : it.g) { g *= static_cast<float>(sign * (1 + 0.02 * outside.next())); }
            return loss * static_cast<float>(1 + 0.01 * outside.next());
        };
    };
    line net;
    preflight_result const found = preflight(net, noisy(1), step);
    CHECK(!found);
    CHECK(found.find(preflight_cause::not_repeatable) != nullptr);
    CHECK(found.count(gradient_proof::not_proven) == 1);
    CHECK(found.find(preflight_cause::not_proven)->finding.detail.view() == "its loss is random");
    line wrong;
    wrong.w = {3, 3};
    CHECK(preflight(wrong, noisy(-1), step).first() == preflight_cause::negated_gradient);
    preflight_options<line> seeded;
    seeded.seed = [](line&, std::uint64_t) {};  // of something else
    preflight_result const reported = preflight(net, noisy(1), step, seeded);
    CHECK(reported.first() == preflight_cause::not_repeatable);
}

TEST_CASE("gradients without a weight, weights without a gradient, and nothing at all are named") {
    struct odd : line {
        std::vector<float> extra = std::vector<float>(3), bias = {1, 2};
        float norm = 1;
    };
    odd net;
    examination exam;
    exam.backward = [&] { return net.forward_backward(); };
    exam.update = [&] { net.update(); };
    exam.parameters = [&](auto& visit) {
        visit("w", net.w), visit("grad/w", net.g), visit("grad/other", net.extra), visit("fc/b", net.bias),
            visit("grad/fc/b", net.extra), visit("grad/norm", net.norm);
    };
    preflight_result const found = preflight(exam);
    CHECK(found.first() == preflight_cause::gradient_without_weight);
    CHECK(found.all()[0].finding.tensor == "grad/other");
    CHECK(found.all()[0].finding.others == 1);  // grad/fc/b is of another size
    CHECK(found.count(gradient_proof::right) == 1);
    exam.parameters = [&](auto& visit) { visit("w", net.w); };
    preflight_result const none = preflight(exam);
    CHECK(none.first() == preflight_cause::nothing_to_examine);
    CHECK(none.find(preflight_cause::not_proven)->finding.tensor == "w");
    CHECK(preflight(examination{}).first() == preflight_cause::nothing_to_examine);
}

TEST_CASE("a net that changes its shapes or its names is reported, whenever it does") {
    for (int const when : {2, 4, 9, 15}) {
        line net;
        int calls = 0;
        preflight_result const found = preflight(
            net,
            [&](line& it) {
                float const loss = it.forward_backward();
                if (++calls == when) { it.g.push_back(0); }
                return loss;
            },
            step);
        CHECK(found.first() == preflight_cause::shapes_change);
    }
    line net;
    preflight_result const by_step = preflight(net, pass, [](line& it) { it.w.clear(); });
    CHECK(by_step.first() == preflight_cause::shapes_change);
}

TEST_CASE("a pass that updates is reported, and examined no further") {
    line net;
    preflight_result const found = preflight(
        net,
        [](line& it) {
            float const loss = it.forward_backward();
            it.update();
            return loss;
        },
        step);
    CHECK(found.first() == preflight_cause::weights_change_in_pass);
    CHECK(found.passes() == 1);
}

TEST_CASE("a budget is kept; what it does not reach is not proven, and is not called right") {
    for (std::size_t const budget : {0U, 1U, 2U, 5U, 10U, 15U, 40U}) {
        net_type net;
        net.spoils = [](net_type& it) { it.g2.values[0] *= 5; };
        preflight_options<net_type> choices;
        choices.forwards = budget;
        preflight_result const found = examined(net, choices);
        CHECK(found.passes() <= budget);
        CHECK(found.count(gradient_proof::right) + found.count(gradient_proof::wrong) +
                  found.count(gradient_proof::not_proven) ==
              found.gradients().size());
    }
    net_type net;
    preflight_options<net_type> few;
    few.forwards = 12;
    CHECK(examined(net, few).count(gradient_proof::right) == 0);
}

TEST_CASE("weights that nobody can write, and types that hold no weights, are left alone") {
    line net;
    std::vector<std::int8_t> quantised(4);
    examination exam;
    exam.backward = [&] { return net.forward_backward(); };
    exam.parameters = [&](auto& visit) {
        visit("w", net.w, net.g);
        visit("q/w", quantised), visit("grad/q/w", std::vector<float>(4));
        visit("t/w", std::vector<float>(2)), visit("grad/t/w", std::vector<float>(2));
    };
    preflight_result const found = preflight(exam);
    CHECK(found.gradients().size() == 1);
    CHECK(found.find(preflight_cause::gradient_without_weight) != nullptr);
}
