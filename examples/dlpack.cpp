// SPDX-License-Identifier: Apache-2.0
// A logistic regression whose tensors are owned by other code and passed as DLPack views, as other frameworks do.
#include "common/prng.hpp"

#include <spotter/ext/dlpack.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <dlpack/dlpack.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace sp = spotter;
using namespace sp::literals;

namespace {

// A tensor that another framework would own; `view` returns its DLPack view.
class foreign_tensor {
public:
    explicit foreign_tensor(std::vector<std::int64_t> shape) : shape_{std::move(shape)} {
        std::size_t count = 1;
        for (std::int64_t const each : shape_) { count *= static_cast<std::size_t>(each); }
        values_.resize(count);
    }
    [[nodiscard]] DLTensor view() {
        DLTensor it{};
        it.data = values_.data();
        it.device = {kDLCPU, 0};
        it.ndim = static_cast<int>(shape_.size());
        it.dtype = {kDLFloat, 32, 1};
        it.shape = shape_.data();
        return it;
    }
    [[nodiscard]] float& operator[](std::size_t i) { return values_[i]; }
    [[nodiscard]] std::size_t size() const { return values_.size(); }

private:
    std::vector<std::int64_t> shape_;
    std::vector<float> values_;
};

struct classifier {
    static constexpr std::size_t samples = 128, inputs = 3;
    foreign_tensor data{{samples, inputs}}, labels{{samples}}, w{{inputs}}, gradient{{inputs}}, probability{{samples}};

    classifier() {
        example::prng random{2};
        for (std::size_t i = 0; i < samples; ++i) {
            for (std::size_t k = 0; k < inputs; ++k) { data[i * inputs + k] = random.uniform(-1.0F, 1.0F); }
            labels[i] = data[i * inputs] + 2 * data[i * inputs + 1] > data[i * inputs + 2] ? 1.0F : 0.0F;
        }
    }
    float forward_backward() {
        float loss = 0;
        for (std::size_t k = 0; k < inputs; ++k) { gradient[k] = 0; }
        for (std::size_t i = 0; i < samples; ++i) {
            float score = 0;
            for (std::size_t k = 0; k < inputs; ++k) { score += w[k] * data[i * inputs + k]; }
            probability[i] = 1 / (1 + std::exp(-score));
            loss -= std::log(labels[i] > 0.5F ? probability[i] : 1 - probability[i]) / samples;
            for (std::size_t k = 0; k < inputs; ++k) {
                gradient[k] += (probability[i] - labels[i]) * data[i * inputs + k] / samples;
            }
        }
        return loss;
    }
    void update(float rate) {
        for (std::size_t k = 0; k < inputs; ++k) { w[k] -= rate * gradient[k]; }
    }
};

}  // namespace

int main() {
    constexpr sp::plan keep{sp::defaults::losses, sp::collection{"weights", "w", sp::every{100}, sp::payload},
                            sp::collection{"probabilities", "probability", sp::every{100}, sp::histogram}};
    classifier net;
    std::string path;
    {
        sp::hook watch{"runs/dlpack", keep, sp::non_finite{}, sp::exploding_gradient{},
                       sp::options{.existing = sp::existing::replace}};
        path = watch.path();
        for (std::uint64_t i = 0; i < 401; ++i) {
            float const loss = net.forward_backward();
            auto const found = watch.step(sp::train(i), "loss"_t = loss, "w"_t = net.w.view(),
                                          "grad/w"_t = net.gradient.view(), "probability"_t = net.probability.view());
            if (found.decision() != sp::decision::proceed) { return 1; }
            net.update(2.0F);
        }
    }
    std::uint32_t checksum = 0;
    for (std::size_t k = 0; k < net.w.size(); ++k) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &net.w[k], sizeof bits);
        checksum = checksum * 31 + bits;
    }
    std::printf("weights %.2f %.2f %.2f, parameters %08x\n", static_cast<double>(net.w[0]),
                static_cast<double>(net.w[1]), static_cast<double>(net.w[2]), checksum);
    if (path.empty()) { return 0; }  // SPOTTER=off or dry

    sp::trial const run = sp::open_trial(path).value();
    double last = 1;
    for (std::uint64_t i : {0U, 100U, 400U}) {
        last = run["loss"].stat(sp::train(i), sp::mean).value();
        sp::distribution const spread = run["probability"].distribution(sp::train(i), sp::histogram).value();
        std::printf("train(%llu): loss %.4f, probabilities from %.3f to %.3f, recorded w[1] %.2f\n",
                    static_cast<unsigned long long>(i), last, spread.low, spread.high,
                    static_cast<double>(run["w"].at(sp::train(i)).to<std::vector<float>>().value()[1]));
    }
    return last < 0.15 ? 0 : 1;
}
