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
        for (std::size_t const depth : {1U, 2U, 5U, 16U, 100U}) {
            bool const many_kinks = how == activation::kinked && depth > 16;  // in float they take more
            for (std::uint64_t seed = 1; seed <= 2; ++seed) {
                if (!many_kinks) { holds(deep_net<float>{depth, how, seed}, 2 * depth); }
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
