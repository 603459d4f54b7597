// SPDX-License-Identifier: Apache-2.0
// A cubic fitted with xtensor: its containers are observed directly, and the record is read back as xtensor containers.
#include "common/prng.hpp"

#include <spotter/ext/xtensor.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/core/xmath.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>
#endif

#include <cstdio>
#include <cstring>
#include <string>

namespace sp = spotter;
using namespace sp::literals;

namespace {

// y = 1 - 2 x + 0.5 x^3 with a little noise, as a linear function of the powers of x.
struct cubic {
    static constexpr std::size_t samples = 200, powers = 4;

    xt::xtensor<double, 2> features = xt::ones<double>({samples, powers});
    xt::xtensor<double, 1> targets = xt::zeros<double>({samples});
    xt::xtensor<double, 1> w = xt::zeros<double>({powers});
    xt::xtensor<double, 1> gradient = xt::zeros<double>({powers});
    xt::xtensor<double, 1> prediction = xt::zeros<double>({samples});

    cubic() {
        example::prng random{11};
        for (std::size_t i = 0; i < samples; ++i) {
            double const x = static_cast<double>(random.uniform(-1.5F, 1.5F));
            for (std::size_t k = 1; k < powers; ++k) { features(i, k) = features(i, k - 1) * x; }
            targets(i) = 1 - 2 * x + 0.5 * x * x * x + static_cast<double>(random.uniform(-0.05F, 0.05F));
        }
    }
    double forward_backward() {
        prediction = xt::sum(features * w, {1});
        xt::xtensor<double, 1> const gap = prediction - targets;
        gradient = 2.0 * xt::mean(features * xt::view(gap, xt::all(), xt::newaxis()), {0});
        return xt::mean(gap * gap)();
    }
    void update(double rate) { w -= rate * gradient; }
};

template <class Visit>
void visit_tensors(cubic const& model, Visit visit) {
    visit("fit/w", model.w, sp::role::weight);
    visit("grad/fit/w", model.gradient);
    visit("prediction", model.prediction);
}

}  // namespace

int main() {
    constexpr sp::plan keep{sp::defaults::losses,
                            sp::collection{"weights", sp::role::weight, sp::every{100}, sp::payload},
                            sp::collection{"gradients", "grad/*", sp::every{100}, sp::stats(sp::l2)}};
    cubic model;
    std::string path;
    {
        sp::hook watch{"runs/fit", keep, sp::non_finite{}, sp::exploding_gradient{},
                       sp::options{.existing = sp::existing::replace}};
        path = watch.path();
        for (std::uint64_t i = 0; i < 1001; ++i) {
            double const loss = model.forward_backward();
            if (watch.step(sp::train(i), "loss"_t = loss, model).decision() != sp::decision::proceed) { return 1; }
            model.update(0.05);
        }
    }
    std::uint64_t checksum = 0;
    for (double const w : model.w) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &w, sizeof bits);
        checksum = checksum * 31 + bits;
    }
    std::printf("y = %.2f %+.2f x %+.2f x^2 %+.2f x^3, parameters %016llx\n", model.w(0), model.w(1), model.w(2),
                model.w(3), static_cast<unsigned long long>(checksum));
    if (path.empty()) { return 0; }  // SPOTTER=off or dry

    sp::trial const run = sp::open_trial(path).value();
    for (std::uint64_t i : {0U, 100U, 1000U}) {
        auto const w = run["fit/w"].at(sp::train(i)).to<xt::xtensor<double, 1>>().value();
        std::printf("train(%llu): loss %.4f, gradient %.4f, recorded weights %.2f %.2f %.2f %.2f\n",
                    static_cast<unsigned long long>(i), run["loss"].at(sp::train(i)).to<double>().value(),
                    run["grad/fit/w"].stat(sp::train(i), sp::l2).value(), w(0), w(1), w(2), w(3));
    }
    return run["loss"].at(sp::train(1000)).to<double>().value() < 0.01 ? 0 : 1;
}
