// SPDX-License-Identifier: Apache-2.0
// A network of vectors of vectors, as in many teaching programs: packed(rows) copies them into one tensor when a step
// needs it.
#include "common/prng.hpp"

#include <spotter/ext/nested.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace sp = spotter;
using namespace sp::literals;

namespace {

using matrix = std::vector<std::vector<double>>;

matrix random_matrix(std::size_t rows, std::size_t columns, example::prng& random) {
    matrix made(rows, std::vector<double>(columns));
    for (auto& row : made) {
        for (double& each : row) { each = static_cast<double>(random.uniform(-1.0F, 1.0F)); }
    }
    return made;
}

// Two inputs, eight tanh units, one logistic output: exclusive or.
struct network {
    static constexpr std::size_t units = 8;
    matrix const inputs = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    std::vector<double> const wanted = {0, 1, 1, 0};
    matrix w1, w2, grad_w1, grad_w2, hidden;
    std::vector<double> outputs;

    network() {
        example::prng random{4};
        w1 = random_matrix(units, 3, random);  // the last column is the bias
        w2 = random_matrix(1, units + 1, random);
    }
    double forward_backward() {
        grad_w1.assign(units, std::vector<double>(3));
        grad_w2.assign(1, std::vector<double>(units + 1));
        hidden.assign(inputs.size(), std::vector<double>(units));
        outputs.assign(inputs.size(), 0);
        double loss = 0;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            double score = w2[0][units];
            for (std::size_t u = 0; u < units; ++u) {
                hidden[i][u] = std::tanh(w1[u][0] * inputs[i][0] + w1[u][1] * inputs[i][1] + w1[u][2]);
                score += w2[0][u] * hidden[i][u];
            }
            outputs[i] = 1 / (1 + std::exp(-score));
            loss -= std::log(wanted[i] > 0.5 ? outputs[i] : 1 - outputs[i]) / 4;
            double const slope = (outputs[i] - wanted[i]) / 4;
            grad_w2[0][units] += slope;
            for (std::size_t u = 0; u < units; ++u) {
                grad_w2[0][u] += slope * hidden[i][u];
                double const back = slope * w2[0][u] * (1 - hidden[i][u] * hidden[i][u]);
                grad_w1[u][0] += back * inputs[i][0];
                grad_w1[u][1] += back * inputs[i][1];
                grad_w1[u][2] += back;
            }
        }
        return loss;
    }
    void update(double rate) {
        for (std::size_t u = 0; u < units; ++u) {
            for (std::size_t k = 0; k < 3; ++k) { w1[u][k] -= rate * grad_w1[u][k]; }
        }
        for (std::size_t u = 0; u <= units; ++u) { w2[0][u] -= rate * grad_w2[0][u]; }
    }
};

template <class Visit>
void visit_tensors(network const& net, Visit visit) {
    visit("fc1/w", sp::packed(net.w1));
    visit("fc2/w", sp::packed(net.w2));
    visit("grad/fc1/w", sp::packed(net.grad_w1));
    visit("grad/fc2/w", sp::packed(net.grad_w2));
    visit("act/fc1", sp::packed(net.hidden));
    visit("predictions", net.outputs);
}

}  // namespace

int main() {
    constexpr sp::plan keep{sp::defaults::losses,
                            sp::collection{"weights", sp::role::weight, sp::every{500}, sp::payload},
                            sp::collection{"predictions", sp::role::prediction, sp::every{500}, sp::payload}};
    network net;
    std::string path;
    {
        sp::hook watch{"runs/nested", keep, sp::non_finite{}, sp::vanishing_gradient{},
                       sp::options{.existing = sp::existing::replace}};
        path = watch.path();
        for (std::uint64_t i = 0; i < 2001; ++i) {
            double const loss = net.forward_backward();
            if (watch.step(sp::train(i), "loss"_t = loss, net).decision() != sp::decision::proceed) { return 1; }
            net.update(1.0);
        }
    }
    std::uint64_t checksum = 0;
    for (auto const& row : net.w1) {
        for (double const w : row) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &w, sizeof bits);
            checksum = checksum * 31 + bits;
        }
    }
    std::printf("outputs %.2f %.2f %.2f %.2f, parameters %016llx\n", net.outputs[0], net.outputs[1], net.outputs[2],
                net.outputs[3], static_cast<unsigned long long>(checksum));
    if (path.empty()) { return 0; }  // SPOTTER=off or dry

    sp::trial const run = sp::open_trial(path).value();
    for (sp::step_id const step : run["predictions"].payload_steps()) {
        auto const was = run["predictions"].at(step).to<std::vector<double>>().value();
        std::printf("train(%llu): loss %.4f, recorded predictions %.2f %.2f %.2f %.2f\n",
                    static_cast<unsigned long long>(step.index), run["loss"].at(step).to<double>().value(), was[0],
                    was[1], was[2], was[3]);
    }
    sp::extents const shape = run["fc1/w"].shape(sp::train(2000)).value();
    return shape == sp::extents{8, 3} && net.outputs[1] > 0.9 && net.outputs[3] < 0.1 ? 0 : 1;
}
