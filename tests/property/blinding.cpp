// SPDX-License-Identifier: Apache-2.0
// One NaN never blinds a rule. A fault that begins 5 steps after a non-finite number is found as if the number had been
// finite, and a healthy stream gives no finding. Rules on losses, gradients and weights; blinding_values.cpp has the
// others.
#include <tests/property/blinding.hpp>

#include <spotter/hook.hpp>

using namespace blinding;

namespace {

double falling(std::uint64_t i) { return 2 * std::exp(-static_cast<double>(i) / 50) + 0.02 * noise(i, 0); }
double as_double(std::uint64_t i) { return static_cast<double>(i); }

// A trained weight: gradients of varying direction, and a weight that moves against or, with a negative rate, along
// them.
auto training(double rate, double faulty_rate, double scale = 1, double faulty_scale = 1) {
    return [=](auto& it, std::uint64_t i, bool bad) {
        static std::vector<float> weight;
        if (i == 0) { weight = noises(999, 12); }
        std::vector<float> const gradient = noises(i, 12, bad ? faulty_scale : scale);
        it.see("fc/w", weight, {3, 4});
        it.see("grad/fc/w", gradient, {3, 4});
        for (std::size_t k = 0; k < 12; ++k) {
            weight[k] -= static_cast<float>(bad ? faulty_rate : rate) * gradient[k];
        }
    };
}
auto of_losses(double (*healthy)(std::uint64_t), double (*faulty)(std::uint64_t)) {
    return [=](auto& it, std::uint64_t i, bool bad) { it.number("loss", bad ? faulty(i) : healthy(i)); };
}
// A falling training loss, and an evaluation loss that may be faulty.
auto of_phases(double (*healthy)(std::uint64_t), double (*faulty)(std::uint64_t)) {
    return [=](auto& it, std::uint64_t i, bool bad) {
        it.number("loss", falling(i));
        it.close();
        it.at = eval(i);
        it.number("loss", bad ? faulty(i) : healthy(i));
    };
}

}  // namespace

TEST_CASE("a NaN blinds no rule on losses") {
    auto const level = [](std::uint64_t i) { return 1 + 0.01 * noise(i, 0); };
    auto const spike = [](std::uint64_t) { return 9.0; };
    never_blinded(loss_spike{}, of_losses(level, spike));
    never_blinded(
        loss_not_decreasing{.num_steps = 10, .smoothing = 5, .patience = 2},
        of_losses([](std::uint64_t i) { return 9 - 0.03 * as_double(i); }, [](std::uint64_t) { return 7.5; }));
    never_blinded(loss_not_decreasing{.num_steps = 10, .smoothing = 5},
                  of_losses([](std::uint64_t i) { return 9 - 0.03 * as_double(i); },
                            [](std::uint64_t i) { return 0.2 * as_double(i); }));
    never_blinded(underfit{.warmup = 40, .num_steps = 10, .smoothing = 5},
                  of_losses(falling, [](std::uint64_t) { return 3.0; }), {.slack = 10});
    never_blinded(oscillating_loss{.window = 20},
                  of_losses(falling, [](std::uint64_t i) { return i % 2 == 0 ? 1.0 : 3.0; }));
    never_blinded(overfit{}, of_phases(falling, [](std::uint64_t i) { return 0.02 * as_double(i); }));
    never_blinded(overtraining{}, of_phases(falling, [](std::uint64_t i) { return 0.5 + 0.02 * (as_double(i) - 50); }));
    never_blinded(unchanged_tensor{}, of_losses(falling, spike));
    never_blinded(unchanged_tensor::sagemaker_defaults(), of_losses(falling, spike));
    never_blinded(initial_loss{.expected = 1}, of_losses([](std::uint64_t) { return 1.0; }, spike), {.fault = 0});
}

TEST_CASE("a NaN blinds no rule on gradients") {
    auto const scaled = [](double factor) {
        return [=](auto& it, std::uint64_t i, bool bad) {
            it.see("grad/fc/w", noises(i, 12, bad ? factor : 1), {3, 4});
            it.number("loss", falling(i));
        };
    };
    never_blinded(exploding_gradient{}, scaled(1e3));
    never_blinded(vanishing_gradient{}, scaled(1e-12));
    never_blinded(gradient_spike{}, scaled(1e4));
    never_blinded(non_finite{}, scaled(1e300));
    never_blinded(exploding_tensor{}, scaled(1e300));
    never_blinded(mixed_precision{}, [](auto& it, std::uint64_t i, bool bad) {
        it.see("grad/fc/w", noises(i, 12, bad ? 1e-10 : 0.5, bad ? 0 : 1), {3, 4});
        it.number("metric/loss_scale", 128);
        it.number("metric/step_skipped", 0);
    });
    never_blinded(gradient_not_cleared{}, [](auto& it, std::uint64_t i, bool bad) {
        it.see("grad/fc/w", bad ? noises(7, 12, as_double(i - 59)) : noises(i, 12), {3, 4});
    });
    never_blinded(gradient_depth_ratio{}, [](auto& it, std::uint64_t i, bool bad) {
        it.see("grad/1/w", noises(i, 12, bad ? 1e-7 : 1), {3, 4});
        it.see("grad/2/w", noises(i, 12), {3, 4});
        it.see("grad/3/w", noises(i, 12, 0.5), {3, 4});
    });
    never_blinded(gradient_noise_scale{.batch_small = 16, .batch_big = 64, .beta = 0.9, .warmup = 20},
                  [](auto& it, std::uint64_t, bool bad) {
                      it.number("metric/grad_sq_small", bad ? 3.99 : 5);
                      it.number("metric/grad_sq_big", bad ? 1 : 2);
                  });
}

TEST_CASE("a NaN blinds no rule on weights") {
    never_blinded(update_direction{.window = 8}, training(0.1, -0.1), {.slack = 3});
    never_blinded(update_ratio_band{.smoothing = 5, .patience = 5}, training(1e-3, 5, 1, 1));
    never_blinded(weight_update_ratio{.large_threshold = 0.5}, training(1e-3, 5));
    never_blinded(dead_update_path{}, training(1e-3, 0), {.slack = 3});
    never_blinded(updates_too_small{.patience = 8}, [](auto& it, std::uint64_t i, bool bad) {
        it.see("fc/w", {1000, static_cast<float>((bad ? 1e-6 : 1.0) * as_double(i % 2))}, {1, 2});
        it.see("grad/fc/w", noises(i, 2), {1, 2});
        it.number("loss", falling(i));
    });
    auto const scaled = [](double factor) {
        return [=](auto& it, std::uint64_t i, bool bad) { it.see("fc/w", noises(i, 12, bad ? factor : 1), {3, 4}); };
    };
    never_blinded(tensor_variance{}, scaled(1e3));
    never_blinded(all_zero{}, scaled(0));
    never_blinded(poor_weight_initialization{.steps = 1000, .conjunct = false},
                  [](auto& it, std::uint64_t i, bool bad) {
                      it.see("pre/1", noises(i, 32), {8, 4});
                      it.see("pre/2", noises(i, 32, bad ? 0.01 : 1), {8, 4});
                      it.see("fc/w", noises(i, 12), {3, 4});
                      it.see("grad/fc/w", noises(i, 12), {3, 4});
                      it.number("loss", 9 - 0.03 * as_double(i));
                  });
    never_blinded(rl_target_network{.patience = 9}, [](auto& it, std::uint64_t i, bool bad) {
        it.see("online/w", noises(i, 12), {3, 4});
        it.see("target/w", bad ? noises(7, 12) : noises(i + 500, 12), {3, 4});
    });
}

TEST_CASE("a NaN does not blind bf16_stall, nor make it fire") {
    for (std::uint16_t const poison : std::initializer_list<std::uint16_t>{0x7FC0, 0x7F80, 0xFF80}) {
        for (bool const in_gradient : {false, true}) {
            for (bool const faulty : {false, true}) {
                hook watch{plan{}, bf16_stall{.patience = 5}};
                indices reported;
                for (std::uint64_t i = 0; i < 100; ++i) {
                    std::vector<bf16> weight(12), gradient(12);
                    for (std::size_t k = 0; k < 12; ++k) {
                        std::uint64_t const turn = faulty && i >= 60 ? 0 : i;
                        weight[k].bits = static_cast<std::uint16_t>(0x3F80U + (turn + k) % 64);
                        gradient[k].bits = static_cast<std::uint16_t>(0x3D00U + (i + 3 * k) % 64);
                    }
                    if (i == 55) { (in_gradient ? gradient : weight)[0].bits = poison; }
                    tensor_ref const w = view_of(weight.data(), {3, 4}), g = view_of(gradient.data(), {3, 4});
                    if (!watch.step(train(i), "fc/w"_t = w, "grad/fc/w"_t = g).empty()) { reported.push_back(i); }
                }
                CHECK(reported.empty() == !faulty);
                if (faulty) { CHECK(reported.front() == 65); }
            }
        }
    }
}
