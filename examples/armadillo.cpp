// SPDX-License-Identifier: Apache-2.0
// A regression with Armadillo, watched through a callback. The optimizer here calls it as ensmallen's optimizers do;
// with ensmallen it is
//     ens::Adam{}.Optimize(function, coordinates, optimizer_callback{watch});
#include "common/prng.hpp"

#include <spotter/ext/armadillo.hpp>
#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <cstdio>
#include <cstring>
#include <string>

namespace sp = spotter;

namespace {

// |A x - b|^2 / n with known coefficients.
class least_squares {
public:
    least_squares() : inputs_(200, 3), wanted_(3, 1), targets_(200, 1) {
        example::prng random{3};
        wanted_(0) = 2;
        wanted_(1) = -1;
        wanted_(2) = 0.5;
        for (double& each : inputs_) { each = static_cast<double>(random.uniform(-1.0F, 1.0F)); }
        targets_ = inputs_ * wanted_;
        for (double& each : targets_) { each += static_cast<double>(random.uniform(-0.01F, 0.01F)); }
    }
    [[nodiscard]] arma::mat const& wanted() const { return wanted_; }
    [[nodiscard]] double EvaluateWithGradient(arma::mat const& x, arma::mat& gradient) const {
        arma::mat const gap = inputs_ * x - targets_;
        auto const count = static_cast<double>(inputs_.n_rows);
        gradient = 2.0 / count * (inputs_.t() * gap);
        return arma::accu(gap % gap) / count;
    }

private:
    arma::mat inputs_, wanted_, targets_;
};

struct gradient_descent {
    double rate = 0.1;
    std::size_t epochs = 200;

    template <class Function, class Callback>
    void Optimize(Function& function, arma::mat& x, Callback&& callback) {
        arma::mat gradient;
        bool stop = false;
        callback.BeginOptimization(*this, function, x);
        for (std::size_t epoch = 0; epoch < epochs && !stop; ++epoch) {
            double const objective = function.EvaluateWithGradient(x, gradient);
            stop = callback.EvaluateWithGradient(*this, function, x, objective, gradient);
            if (stop) { break; }
            x -= rate * gradient;
            stop = callback.StepTaken(*this, function, x) || callback.EndEpoch(*this, function, x, epoch, objective);
        }
        callback.EndOptimization(*this, function, x);
    }
};

}  // namespace

int main() {
    constexpr sp::plan keep{sp::collection{"losses", "loss", sp::always{}, sp::payload},
                            sp::collection{"coordinates", sp::role::weight, sp::every{10}, sp::payload},
                            sp::collection{"gradients", sp::role::gradient, sp::every{10}, sp::stats(sp::l2)}};
    least_squares function;
    arma::mat x(3, 1, arma::fill::zeros);
    std::string path;
    {
        sp::hook watch{"runs/armadillo", keep, sp::non_finite{}, sp::exploding_gradient{},
                       sp::options{.existing = sp::existing::replace}};
        path = watch.path();
        gradient_descent{}.Optimize(function, x, sp::optimizer_callback{watch, sp::on_skip::stop});
    }
    std::uint64_t checksum = 0;
    for (double const each : x) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &each, sizeof bits);
        checksum = checksum * 31 + bits;
    }
    std::printf("off by %.4f, parameters %016llx\n", arma::norm(x - function.wanted()),
                static_cast<unsigned long long>(checksum));
    if (path.empty()) { return 0; }  // SPOTTER=off or dry

    sp::trial const run = sp::open_trial(path).value();
    for (std::uint64_t i = 0; i < 200; i += 50) {
        auto const then = run["coordinates/w"].at(sp::train(i)).to<arma::mat>().value();
        std::printf("train(%llu): %6.3f %6.3f %6.3f  loss %.6f  gradient %.6f\n", static_cast<unsigned long long>(i),
                    then(0), then(1), then(2), run["loss"].at(sp::train(i)).to<double>().value(),
                    run["grad/coordinates/w"].stat(sp::train(i), sp::l2).value_or(-1));
    }
    return arma::norm(x - function.wanted()) < 0.01 ? 0 : 1;
}
