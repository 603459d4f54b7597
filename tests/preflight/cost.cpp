// SPDX-License-Identifier: Apache-2.0
// What an examination costs: as many passes, however many tensors there are.
#include <spotter/preflight.hpp>

#include <tests/catch.hpp>
#include <tests/preflight/deep.hpp>
#include <tests/preflight/net.hpp>

using namespace spotter;
using preflight_test::activation;
using preflight_test::deep_net;

TEST_CASE("a healthy net of two to two hundred tensors takes sixty passes at most, and every gradient is proven") {
    auto const holds = [](auto net, std::size_t tensors) {
        preflight_result const found = preflight_test::examined(net);
        INFO(found);
        CHECK(!found);
        CHECK(found.passes() <= 60);
        CHECK(found.gradients().size() == tensors);
        CHECK(found.count(gradient_proof::right) == tensors);
    };
    for (activation const how : {activation::smooth, activation::kinked}) {
        for (std::size_t const depth : {1U, 2U, 5U, 16U, 35U, 65U, 100U}) {
            for (std::uint64_t seed = 1; seed <= 2; ++seed) {
                holds(deep_net<float>{depth, how, seed}, 2 * depth);
                holds(deep_net<double>{depth, how, seed}, 2 * depth);
            }
        }
    }
}

TEST_CASE("in a net of two hundred tensors the one gradient that is wrong is named") {
    struct wrong_net : deep_net<float> {
        using deep_net<float>::deep_net;
        double forward_backward() {
            double const loss = deep_net<float>::forward_backward();
            for (float& each : layers[60].grad_w) { each = -each; }
            return loss;
        }
    };
    wrong_net net{100, activation::kinked, 3};
    preflight_result const found = preflight_test::examined(net);
    INFO(found);
    CHECK(found.first() == preflight_cause::negated_gradient);
    CHECK(found.all()[0].finding.tensor == "layer60/w");
    CHECK(found.count(gradient_proof::wrong) == 1);
    CHECK(found.passes() <= 500);
}

TEST_CASE("in a net of two hundred tensors gradients that are all zero, or in front of a place, are named") {
    struct detached_net : deep_net<float> {
        std::size_t depth;  // so many layers have no gradient
        detached_net(std::size_t of, std::size_t without)
            : deep_net<float>{of, activation::kinked, 3}, depth{without} {}
        double forward_backward() {
            double const loss = deep_net<float>::forward_backward();
            for (std::size_t l = 0; l < depth; ++l) {
                layers[l].grad_w.assign(layers[l].grad_w.size(), 0.0F);
                layers[l].grad_b.assign(layers[l].grad_b.size(), 0.0F);
            }
            return loss;
        }
    };
    detached_net none{100, 100};
    preflight_result const all = preflight_test::examined(none);
    INFO(all);
    CHECK(all.first() == preflight_cause::no_gradient);
    CHECK(all.passes() <= 200);
    detached_net half{100, 50};
    preflight_result const front = preflight_test::examined(half);
    INFO(front);
    CHECK(front.first() == preflight_cause::detached);
    CHECK(front.all()[0].finding.tensor == "layer49/b");
    CHECK(front.count(gradient_proof::wrong) == 100);
    CHECK(front.passes() <= 200);
}
