// SPDX-License-Identifier: Apache-2.0
// T12: the cost of a hook in a whole training loop, a perceptron's: processor time of its thread, elapsed time, and
// disk space.
//     bench_whole_loop [digits.csv]
// Each variant trains a watched net and an unwatched one in turn, 20 steps each, and then in the opposite order. The
// result is the median ratio.
#include "perceptron.hpp"
#include "read_sum.hpp"
#include "scratch_folder.hpp"
#include "thread_time.hpp"

#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

using namespace spotter;

namespace {

constexpr auto numbers = stats(minimum, maximum, mean, stddev, l1, l2, nonfinite, zeros);
constexpr plan nothing{collection{"none", "*", never{}, payload}};
constexpr plan all_values{collection{"all", "*", always{}, payload}};
constexpr plan all_at_times{collection{"all", "*", every{10}, payload}};
constexpr plan usual{collection{"weights", role::weight, every{10}, payload},
                     collection{"losses", role::loss, always{}, payload}};
constexpr plan all_numbers{collection{"all", "*", always{}, numbers}};

constexpr auto many_rules = together(
    together(all_zero{}, bf16_stall{}, check_input_images{}, class_imbalance{}, confusion{}, constant_batch{},
             data_wait{}, dead_relu{}, dead_update_path{}, dormant_units{}, exploding_gradient{}, exploding_tensor{},
             feature_importance_overweight{}, gradient_depth_ratio{},
             gradient_noise_scale{.batch_small = 16, .batch_big = 64}, gradient_not_cleared{}, gradient_spike{},
             identity_activation{}, initial_loss{.expected = initial_loss::cross_entropy(10)}, input_not_normalized{},
             label_noise{}, loss_not_decreasing{}, loss_spike{}, low_feature_importance{}, mixed_precision{},
             nlp_sequence_ratio{}, non_finite{}),
    together(oscillating_loss{}, output_collapse{}, output_mismatch{}, overfit{}, overtraining{},
             poor_weight_initialization{}, rl_clip_fraction{}, rl_constant_reward{},
             rl_entropy_collapse{.max_entropy = 1}, rl_explained_variance{}, rl_kl{}, rl_observation_range{},
             unrelated_predictions{}, rl_policy_ascends{}, rl_repeated_states{}, rl_target_network{},
             saturated_activation{}, stalled_training{}, step_time_outlier{}, tensor_variance{}, tree_depth{},
             unchanged_tensor{}, underfit{}, update_direction{}, update_ratio_band{}, updates_too_small{},
             vanishing_gradient{}, weight_update_ratio{}));

// The least work for judging values and their change: reads every tensor once and copies the weights for the next step.
// It has no statistics and no rules.
class reader_and_copier : public null_hook {
public:
    bool step(step_id, bench::perceptron const& net) {
        std::size_t tensors = 0;
        visit_tensors(net, [&](std::string_view name, auto const& values, auto...) {
            tensor_ref const view = as_tensor(values);
            bench::do_not_optimise(bench::read_sum(view.values.raw, view.bytes()));
            if (tensors == before_.size()) { before_.emplace_back(view.bytes()); }
            if (name.ends_with("/w") && !name.starts_with("grad/")) {
                std::memcpy(before_[tensors].data(), view.values.raw, view.bytes());
            }
            ++tensors;
        });
        return false;
    }

private:
    std::vector<std::vector<std::byte>> before_;  // in visiting order
};

struct cost {
    double core, wall;            // of a step, relative to the loop without a hook
    double more_core, more_wall;  // microseconds a step beyond that loop
    double megabytes;             // on disk, a step
    std::uint64_t reported;
};

class trainings {
public:
    explicit trainings(std::string const& path) : pictures_{bench::load_pictures(path)} {}
    [[nodiscard]] std::string const& source() const noexcept { return pictures_.source; }

    void describe() const {
        bench::perceptron net{pictures_};
        std::size_t tensors = 0;
        std::uint64_t bytes = 0;
        visit_tensors(net, [&](std::string_view, auto const& values, auto...) {
            ++tensors;
            bytes += as_tensor(values).bytes();
        });
        std::vector<double> times;
        for (std::size_t i = 0; i < bench::rounds(400, 20); ++i) {
            times.push_back(bench::thread_time{[&] { net.forward_backward(), net.update(); }}.core * 1e-6);
        }
        std::printf("%zu tensors, %.3f MB a step\n", tensors, static_cast<double>(bytes) * 1e-6);
        bench::figure("a step without a hook", bench::median(times), "ms",
                      bench::control("read right", 100 * net.accuracy(), "%"));
    }

    // `make(folder)` returns a hook. Its findings are counted and not followed, so that both nets do the same.
    template <class Make>
    [[nodiscard]] cost measure(Make&& make) const {
        bench::scratch_folder const folder;
        bench::perceptron nets[2]{bench::perceptron{pictures_}, bench::perceptron{pictures_}};
        auto watch = make(folder.path() + "/run");
        std::vector<double> core, wall, more_core, more_wall;
        std::uint64_t index = 0, reported = 0;
        // Both nets learn the same, so each is the watched one in turn: a net's memory position alone changes its time
        // by a tenth. Each finds the caches as the other one left them.
        auto const pair = [&] {
            bench::thread_time alone, seen;
            double written = 0;
            auto const train_alone = [&](bench::perceptron& net) {
                alone += bench::thread_time{[&] {
                    for (std::size_t i = 0; i < steps; ++i) {
                        net.forward_backward();
                        net.update();
                    }
                }};
            };
            auto const train_watched = [&](bench::perceptron& net) {
                seen += bench::thread_time{[&] {
                    for (std::size_t i = 0; i < steps; ++i) {
                        net.forward_backward();
                        reported += watch.step(train(index++), net) ? 1U : 0U;
                        net.update();
                    }
                }};
                // The writer's backlog must not slow the other net: this one waits for it, on its own time.
                written += bench::nanoseconds([&] { watch.flush(); });
            };
            train_alone(nets[0]);
            train_watched(nets[1]);
            train_watched(nets[0]);
            train_alone(nets[1]);
            core.push_back(seen.core / alone.core);
            wall.push_back((seen.wall + written) / alone.wall);
            more_core.push_back((seen.core - alone.core) * 1e-3 / (2 * steps));
            more_wall.push_back((seen.wall + written - alone.wall) * 1e-3 / (2 * steps));
        };
        pair();  // the hook meets all names
        for (std::vector<double>* const each : {&core, &wall, &more_core, &more_wall}) { each->clear(); }
        for (std::size_t i = 0; i < bench::rounds(pairs_, 2); ++i) { pair(); }
        watch.finish();
        health_report const health = watch.health();
        if (!health.good() || health.sink.dropped + health.sink.thinned > 0) {
            std::printf("  not a measurement: %s\n", std::string{health.first_error.what.view()}.c_str());
        }
        return {bench::median(core),
                bench::median(wall),
                bench::median(more_core),
                bench::median(more_wall),
                static_cast<double>(folder.bytes()) * 1e-6 / static_cast<double>(index),
                reported};
    }

private:
    static constexpr std::size_t steps = 20;  // a multiple of 10
    std::size_t pairs_ = 30;                  // in each pair both nets are watched once
    bench::pictures pictures_;
};

void tell(char const* what, cost const& it, double limit = 0) {
    std::printf("  %-44s %6.3f x %+7.0f us | %6.3f x %+7.0f us | %8.4f MB | %llu\n", what, it.core, it.more_core,
                it.wall, it.more_wall, it.megabytes, static_cast<unsigned long long>(it.reported));
    if (limit > 0) {
        bench::target(std::string{"T12 "} + what, it.core, "x", bench::wanted::at_most, limit, "no hook 1 x");
    }
}

}  // namespace

int main(int count, char** arguments) {
    trainings const loop{count > 1 ? arguments[1] : ""};
    std::printf("a perceptron 784-256-256-10, batch 128, on %s\n", loop.source().c_str());
    loop.describe();
    std::printf("  %-44s %20s | %20s | %11s | steps with an alarm\n", "a step", "thread's processor", "clock, flushed",
                "disk");
    tell("no hook", loop.measure([](std::string const&) { return null_hook{}; }));
    tell("every tensor read, weights copied (control)",
         loop.measure([](std::string const&) { return reader_and_copier{}; }));
    tell("a hook with nothing to do",
         loop.measure([](std::string const& path) { return hook{std::string_view{path}, nothing}; }));
    tell("all tensors, every step",
         loop.measure([](std::string const& path) { return hook{std::string_view{path}, all_values}; }), 1.25);
    tell("all tensors, every 10 steps",
         loop.measure([](std::string const& path) { return hook{std::string_view{path}, all_at_times}; }));
    tell("weights every 10 steps, all losses",
         loop.measure([](std::string const& path) { return hook{std::string_view{path}, usual}; }), 1.01);
    tell("statistics of all tensors, every step",
         loop.measure([](std::string const& path) { return hook{std::string_view{path}, all_numbers}; }));
    tell("packs::supervised, every step",
         loop.measure([](std::string const& path) { return hook{std::string_view{path}, packs::supervised}; }), 1.25);
    tell("packs::supervised, judged every 10 steps", loop.measure([](std::string const& path) {
        return hook{std::string_view{path}, packs::supervised | only{every{10}}};
    }),
         1.03);
    tell("packs::supervised, nothing recorded",
         loop.measure([](std::string const&) { return hook{nothing, packs::supervised}; }));
    tell("54 built-in rules, every step",
         loop.measure([](std::string const& path) { return hook{std::string_view{path}, many_rules}; }));
    return 0;
}
