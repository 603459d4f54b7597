// SPDX-License-Identifier: Apache-2.0
// A small classifier with Eigen matrices: three spirals, one hidden tanh layer, softmax. The matrices are observed
// directly; the record is read back as Eigen matrices.
#include "common/prng.hpp"

#include <spotter/ext/eigen.hpp>
#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <Eigen/Dense>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

namespace sp = spotter;
using namespace sp::literals;

namespace {

// One sample a column, as usual in Eigen programs.
struct classifier {
    static constexpr Eigen::Index inputs = 2, units = 24, classes = 3, samples = 150;

    Eigen::MatrixXf w1{units, inputs}, w2{classes, units}, grad_w1, grad_w2;
    Eigen::VectorXf b1 = Eigen::VectorXf::Zero(units), b2 = Eigen::VectorXf::Zero(classes), grad_b1, grad_b2;
    Eigen::MatrixXf data{inputs, samples}, target = Eigen::MatrixXf::Zero(classes, samples);
    Eigen::MatrixXf hidden, probability;

    classifier() {
        example::prng random{5};
        for (float& w : w1.reshaped()) { w = random.uniform(-1.0F, 1.0F); }
        for (float& w : w2.reshaped()) { w = random.uniform(-0.5F, 0.5F); }
        for (Eigen::Index i = 0; i < samples; ++i) {
            float const radius = static_cast<float>(i / classes) / static_cast<float>(samples / classes);
            float const angle = 3.0F * radius + 2.1F * static_cast<float>(i % classes) + random.uniform(-0.1F, 0.1F);
            data.col(i) << 2.0F * radius * std::cos(angle), 2.0F * radius * std::sin(angle);
            target(i % classes, i) = 1;
        }
    }
    float forward_backward() {
        hidden = ((w1 * data).colwise() + b1).array().tanh();
        probability = ((w2 * hidden).colwise() + b2).array().exp();
        probability.array().rowwise() /= probability.colwise().sum().array().eval();
        Eigen::MatrixXf const slope = (probability - target) / static_cast<float>(samples);
        grad_w2 = slope * hidden.transpose();
        grad_b2 = slope.rowwise().sum();
        Eigen::MatrixXf const back = (w2.transpose() * slope).array() * (1.0F - hidden.array().square());
        grad_w1 = back * data.transpose();
        grad_b1 = back.rowwise().sum();
        return -(target.array() * probability.array().log()).sum() / static_cast<float>(samples);
    }
    void update(float rate) {
        w1 -= rate * grad_w1;
        b1 -= rate * grad_b1;
        w2 -= rate * grad_w2;
        b2 -= rate * grad_b2;
    }
    [[nodiscard]] float accuracy() const {
        Eigen::Index right = 0;
        for (Eigen::Index i = 0; i < samples; ++i) {
            Eigen::Index best = 0;
            probability.col(i).maxCoeff(&best);
            right += best == i % classes ? 1 : 0;
        }
        return static_cast<float>(right) / static_cast<float>(samples);
    }
};

template <class Visit>
void visit_tensors(classifier const& net, Visit visit) {
    visit("fc1/w", net.w1);
    visit("fc1/b", net.b1);
    visit("fc2/w", net.w2);
    visit("fc2/b", net.b2);
    visit("act/fc1", net.hidden);
    visit("grad/fc1/w", net.grad_w1);
    visit("grad/fc2/w", net.grad_w2);
}

}  // namespace

int main() {
    constexpr sp::plan keep{sp::collection{"losses", "loss", sp::always{}, sp::payload},
                            sp::collection{"weights", sp::role::weight, sp::every{100}, sp::payload}};
    classifier net;
    std::string path;
    {
        sp::hook watch{"runs/eigen", keep, sp::non_finite{}, sp::exploding_gradient{},
                       sp::options{.existing = sp::existing::replace}};
        path = watch.path();
        for (std::uint64_t i = 0; i < 601; ++i) {
            float const loss = net.forward_backward();
            if (watch.step(sp::train(i), "loss"_t = loss, net).decision() != sp::decision::proceed) { return 1; }
            net.update(1.0F);
        }
    }
    std::uint32_t checksum = 0;
    for (float const w : net.w1.reshaped()) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &w, sizeof bits);
        checksum = checksum * 31 + bits;
    }
    std::printf("accuracy %.2f, parameters %08x\n", static_cast<double>(net.accuracy()), checksum);
    if (path.empty()) { return 0; }  // SPOTTER=off or dry

    sp::trial const run = sp::open_trial(path).value();
    auto const before = run["fc1/w"].at(sp::train(0)).to<Eigen::MatrixXf>().value();
    auto const after = run["fc1/w"].at(sp::train(600)).to<Eigen::MatrixXf>().value();
    Eigen::VectorXf const moved = (after - before).rowwise().norm();
    std::printf("recorded %dx%d weights; a unit moved by %.2f to %.2f\n", static_cast<int>(after.rows()),
                static_cast<int>(after.cols()), static_cast<double>(moved.minCoeff()),
                static_cast<double>(moved.maxCoeff()));
    for (sp::point const& each : run["loss"].history(sp::mean, sp::every{200})) {
        std::printf("train(%llu): loss %.4f\n", static_cast<unsigned long long>(each.step.index), each.value);
    }
    return net.accuracy() > 0.9F ? 0 : 1;
}
