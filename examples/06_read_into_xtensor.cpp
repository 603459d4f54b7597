// SPDX-License-Identifier: Apache-2.0
// Reads a record into xtensor containers: any value at any step, with its recorded type and shape.
#include "common/regression.hpp"

#include <spotter/ext/xtensor.hpp>
#include <spotter/report.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#if __has_include(<xtensor/reducers/xnorm.hpp>)
#include <xtensor/reducers/xnorm.hpp>
#else
#include <xtensor/xnorm.hpp>
#endif

namespace sp = spotter;
using namespace sp::literals;

int main() {
    constexpr sp::plan keep{sp::defaults::losses,
                            sp::collection{"weights", sp::role::weight, sp::every{50}, sp::payload}};
    sp::options const replace{.existing = sp::existing::replace};
    std::string path;
    {
        sp::hook watch{"runs/xtensor", keep, replace};
        path = watch.path();
        example::regression net;
        xt::xarray<double> scale = xt::ones<double>({2, 3});  // xtensor containers are observed as they are
        for (std::uint64_t i = 0; i < 101; ++i) {
            float const loss = net.forward_backward();
            (void)watch.step(sp::train(i), "loss"_t = loss, "scale/w"_t = scale, net);
            net.update();
            scale *= 0.99;
        }
    }
    sp::trial const run = sp::open_trial(path).value();
    auto const before = run["fc1/w"].at(sp::train(0)).to<xt::xtensor<float, 2>>().value();
    auto const after = run["fc1/w"].at(sp::train(100)).to<xt::xtensor<float, 2>>().value();
    auto const scale = run["scale/w"].at(sp::train(50)).to<xt::xarray<double>>().value();
    xt::xtensor<float, 2> const moved = after - before;
    fmt::print("fc1/w moved by {:.3f} in 100 steps; scale at 50 is {:.3f}\n", xt::norm_l2(moved)(), scale(1, 2));

    for (sp::point const& each : run["loss"].history(sp::mean, sp::every{25})) {
        fmt::print("{}: loss {:.4f}\n", each.step, each.value);
    }

    // Errors are values with a name and a sentence.
    auto const wrong = run["fc1/w"].at(sp::train(3)).to<xt::xtensor<float, 2>>();
    fmt::print("{}\n", wrong.error());
    return !wrong && before.shape(0) == 2 && before.shape(1) == 16 ? 0 : 1;
}
