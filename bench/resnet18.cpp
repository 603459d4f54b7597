// SPDX-License-Identifier: Apache-2.0
// T12 compared with smdebug: the cost of a hook in the training of a ResNet18 in libtorch, with batches of 16 pictures
// of 3 x 64 x 64 and one thread. smdebug for PyTorch was measured separately, on the same kind of machine (two cores,
// two threads).
#include "resnet18.hpp"
#include "scratch_folder.hpp"
#include "thread_time.hpp"

#include <spotter/spotter.hpp>

#include <spotter/ext/torch.hpp>

#include <torch/optim.h>

#include <memory>

namespace {

namespace sp = spotter;

constexpr std::uint64_t steps = 10;  // per chunk, so that each has one step at which everything is due

// A net, its optimizer and one batch: the same for every variant.
class training {
public:
    training() {
        torch::manual_seed(7);
        net_ = bench::resnet{};
        tensors_ = sp::module_table{net_};
        optimizer_ = std::make_unique<torch::optim::SGD>(net_->parameters(), 1e-3);
        pictures_ = torch::randn({16, 3, 64, 64});
        labels_ = torch::randint(1000, {16}, torch::kLong);
    }
    template <class Hook>
    void step(Hook& watch) {
        watch.begin(sp::train(index_++));
        optimizer_->zero_grad();
        torch::Tensor const loss = torch::nn::functional::cross_entropy(net_->forward(pictures_, watch), labels_);
        loss.backward();
        watch.observe("loss", loss);
        sp::observe_module(watch, tensors_);
        (void)watch.end();
        optimizer_->step();
    }

private:
    bench::resnet net_{nullptr};
    sp::module_table tensors_;
    std::unique_ptr<torch::optim::SGD> optimizer_;
    torch::Tensor pictures_, labels_;
    std::uint64_t index_ = 0;
};

// Counts the tensors and megabytes that one step shows.
struct counting {
    std::size_t tensors = 0;
    double megabytes = 0;
    void begin(sp::step_id) noexcept {}
    template <class... More>
    void observe(std::string_view, torch::Tensor const& values, More...) {
        ++tensors;
        megabytes += static_cast<double>(values.nbytes()) * 1e-6;
    }
    [[nodiscard]] int end() const noexcept { return 0; }
};

template <class Make>
void measure(char const* what, double elsewhere, Make&& make) {
    bench::scratch_folder const folder;
    training plain, watched;
    sp::null_hook nobody;
    auto watch = make(folder.path() + "/run");
    std::vector<double> core, wall, flushed, alone_core;
    std::size_t const chunk = bench::rounds(steps, 1), rounds = bench::rounds(11, 2);
    for (std::size_t round = 0; round < rounds; ++round) {
        bench::thread_time const alone{[&] {
            for (std::size_t i = 0; i < chunk; ++i) { plain.step(nobody); }
        }};
        bench::thread_time const seen{[&] {
            for (std::size_t i = 0; i < chunk; ++i) { watched.step(watch); }
        }};
        double const written = bench::nanoseconds([&] { watch.flush(); });
        if (round == 0) { continue; }
        core.push_back(seen.core / alone.core);
        wall.push_back(seen.wall / alone.wall);
        flushed.push_back((seen.wall + written) / alone.wall);
        alone_core.push_back(alone.core * 1e-6 / static_cast<double>(chunk));
    }
    watch.finish();
    sp::health_report const health = watch.health();
    if (!health.good() || health.sink.dropped + health.sink.thinned > 0) {
        std::printf("  not a measurement: %s\n", std::string{health.first_error.what.view()}.c_str());
    }
    std::printf("  %-42s %6.3f x | %6.3f x | %6.3f x | %8.2f MB a step | %.0f ms\n", what, bench::median(core),
                bench::median(wall), bench::median(flushed),
                static_cast<double>(folder.bytes()) * 1e-6 / static_cast<double>(chunk * rounds),
                bench::median(alone_core));
    if (elsewhere > 0) {
        bench::figure(std::string{"  ResNet18, "} + what, bench::median(core), "x",
                      bench::control("elsewhere smdebug", elsewhere, "x"));
    }
    std::fflush(stdout);
}

constexpr sp::plan weights{sp::collection{"weights", sp::role::weight, sp::every{10}, sp::payload},
                           sp::collection{"losses", sp::role::loss, sp::always{}, sp::payload}};
constexpr sp::plan parameters{sp::collection{"weights", sp::role::weight, sp::every{10}, sp::payload},
                              sp::collection{"biases", sp::role::bias, sp::every{10}, sp::payload},
                              sp::collection{"gradients", sp::role::gradient, sp::every{10}, sp::payload}};
constexpr sp::plan all_at_times{sp::collection{"all", "*", sp::every{10}, sp::payload}};
constexpr sp::plan all_values{sp::collection{"all", "*", sp::always{}, sp::payload}};

}  // namespace

int main() {
    torch::set_num_threads(1);
    counting shown;
    training{}.step(shown);
    std::printf("ResNet18, batch 16, 3 x 64 x 64, SGD, libtorch on one thread: %zu tensors, %.1f MB a step\n",
                shown.tensors, shown.megabytes);
    std::printf("  %-42s thread's processor | clock | clock, flushed | disk | a step without a hook\n", "a step");
    auto const recording = [](auto const& keep) {
        return [&keep](std::string const& path) { return sp::hook{std::string_view{path}, keep}; };
    };
    measure("no hook", 0, [](std::string const&) { return sp::null_hook{}; });
    measure("weights every 10 steps, all losses", 1.03, recording(weights));
    measure("parameters and gradients every 10 steps", 0, recording(parameters));
    measure("all tensors, every 10 steps", 1.24, recording(all_at_times));
    measure("all tensors, every step", 2.87, recording(all_values));
    return 0;
}
