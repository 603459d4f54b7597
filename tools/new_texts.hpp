// SPDX-License-Identifier: Apache-2.0
// Command line, `new`: the texts of a project's files. @NAME@ is replaced by the project's name.
#pragma once

#include <array>
#include <string_view>

namespace spotter_tool {

struct project_file {
    std::string_view name;
    std::string_view text;
};

inline constexpr std::string_view project_beginning = R"file(cmake_minimum_required(VERSION 3.20)
project(@NAME@ LANGUAGES @LANGUAGES@)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# spotter is installed, or -DSPOTTER_SOURCE=/path/to/spotter says where its source is.
set(SPOTTER_SOURCE "" CACHE PATH "The source folder of spotter (empty: it is installed)")
if(SPOTTER_SOURCE)
    add_subdirectory("${SPOTTER_SOURCE}" spotter EXCLUDE_FROM_ALL)
else()
    find_package(spotter REQUIRED)
endif()
)file";

inline constexpr std::string_view project_read_me = R"file(# @NAME@

A training loop that spotter watches.

```sh
cmake -S . -B build          # spotter is not installed: -DSPOTTER_SOURCE=/path/to/spotter
cmake --build build
build/train                  # trains; the record is in runs/@NAME@
build/train 50               # the same with a learning rate of 50: it is stopped, exit code 3
spotter info runs/@NAME@     # what was recorded, and what the rules found
spotter show runs/@NAME@ loss
spotter report runs/@NAME@   # a page for the browser
```
)file";

inline constexpr std::array plain_project{
    project_file{"CMakeLists.txt", R"file(
add_executable(train train.cpp)
target_link_libraries(train PRIVATE spotter::spotter)
)file"},
    project_file{"train.cpp", R"file(// A training loop that spotter watches: `train [LEARNING_RATE]`.
// Ends with 0 when it has learnt, 3 when spotter stopped it, 1 otherwise.
#include <spotter/print.hpp>
#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace sp = spotter;
using namespace sp::literals;

namespace {

// What is recorded: which tensors, at which steps, and what is kept of each.
constexpr sp::plan keep{sp::collection{"losses", "loss", sp::always{}, sp::payload},
                        sp::collection{"weights", sp::role::weight, sp::every{100}, sp::payload},
                        sp::collection{"gradients", "grad/*", sp::every{10}, sp::stats(sp::l2, sp::maximum)}};

// What is wrong, and what then happens: the loop is asked to stop.
constexpr auto broken = sp::on(sp::non_finite{} || sp::exploding_gradient{}, sp::stop);

// A linear model of four inputs. Put your own here.
struct model {
    std::array<float, 4> weights{}, gradient{};
    std::mt19937 random{7};

    // One batch: fills the gradient and returns the mean squared error.
    float forward_backward() {
        constexpr std::array<float, 4> truth{1.0F, -2.0F, 0.5F, 3.0F};
        constexpr int batch = 32;
        std::uniform_real_distribution<float> inputs{-1.0F, 1.0F};
        gradient.fill(0.0F);
        float loss = 0;
        for (int sample = 0; sample < batch; ++sample) {
            std::array<float, 4> x{};
            float gap = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                x[i] = inputs(random);
                gap += (weights[i] - truth[i]) * x[i];
            }
            loss += gap * gap / batch;
            for (std::size_t i = 0; i < x.size(); ++i) { gradient[i] += 2 * gap * x[i] / batch; }
        }
        return loss;
    }
    void update(float rate) {
        for (std::size_t i = 0; i < weights.size(); ++i) { weights[i] -= rate * gradient[i]; }
    }
};

}  // namespace

int main(int count, char** arguments) {
    float const rate = count > 1 ? std::strtof(arguments[1], nullptr) : 0.1F;
    sp::hook watch{"runs/@NAME@", keep, broken};
    model net;
    float loss = 0;
    bool stopped = false;
    for (std::uint64_t i = 0; i < 500 && !stopped; ++i) {
        loss = net.forward_backward();
        // The gradient is known and no weight has changed yet: the time to look.
        auto const found =
            watch.step(sp::train(i), "loss"_t = loss, "fc/w"_t = net.weights, "grad/fc/w"_t = net.gradient);
        if (found) { sp::print(found); }
        stopped = found.decision() == sp::decision::stop;
        if (found.decision() == sp::decision::proceed) { net.update(rate); }
    }
    watch.finish();
    std::printf("%s, loss %g; the record is in %.*s\n", stopped ? "stopped" : "trained", static_cast<double>(loss),
                static_cast<int>(watch.path().size()), watch.path().data());
    return stopped ? 3 : loss < 0.01F ? 0 : 1;
}
)file"}};

inline constexpr std::array torch_project{
    project_file{"CMakeLists.txt", R"file(
# libtorch: -DCMAKE_PREFIX_PATH=/path/to/libtorch where it is not found.
find_package(Torch REQUIRED)

add_executable(train train.cpp)
target_link_libraries(train PRIVATE spotter::spotter ${TORCH_LIBRARIES})
)file"},
    project_file{"train.cpp", R"file(// A training loop of libtorch that spotter watches: `train [LEARNING_RATE]`.
// Ends with 0 when it has learnt, 3 when spotter stopped it, 1 otherwise.
#include <spotter/print.hpp>
#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>

#include <spotter/ext/torch.hpp>

#include <torch/nn.h>
#include <torch/optim.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace sp = spotter;  // not opened: spotter::at is a policy, ::at a namespace of torch's
using namespace sp::literals;

namespace {

// What is recorded: which tensors, at which steps, and what is kept of each.
constexpr sp::plan keep{sp::collection{"losses", "loss", sp::always{}, sp::payload},
                        sp::collection{"weights", sp::role::weight, sp::every{100}, sp::payload},
                        sp::collection{"gradients", "grad/*", sp::every{10}, sp::stats(sp::l2, sp::maximum)}};

// What is wrong, and what then happens: the loop is asked to stop.
constexpr auto broken = sp::on(sp::non_finite{} || sp::exploding_gradient{}, sp::stop);

// Put your own module here.
struct net_impl : torch::nn::Module {
    torch::nn::Linear fc1{register_module("fc1", torch::nn::Linear{2, 16})};
    torch::nn::Linear fc2{register_module("fc2", torch::nn::Linear{16, 1})};

    template <class Hook>
    torch::Tensor forward(torch::Tensor const& x, Hook& watch) {
        return fc2(watch.tap("act/fc1", torch::tanh(fc1(x))));
    }
};
TORCH_MODULE_IMPL(net, net_impl);

}  // namespace

int main(int count, char** arguments) {
    double const rate = count > 1 ? std::strtod(arguments[1], nullptr) : 0.1;
    torch::set_num_threads(1);
    torch::manual_seed(7);
    net model;
    torch::optim::SGD sgd{model->parameters(), rate};
    sp::hook watch{"runs/@NAME@", keep, broken};
    sp::module_table const tensors{model};  // listed once, so that no step allocates for it
    double loss = 0;
    bool stopped = false;
    for (std::uint64_t i = 0; i < 500 && !stopped; ++i) {
        torch::Tensor const x = torch::rand({32, 2}) * 2 - 1;
        torch::Tensor const y = x.select(1, 0) - 2 * x.select(1, 1);
        watch.begin(sp::step_of(model, i));
        sgd.zero_grad();
        torch::Tensor const error = torch::mse_loss(model->forward(x, watch).squeeze(1), y);
        error.backward();
        watch.observe("loss", error);
        sp::observe_module(watch, tensors);
        auto const found = watch.end();  // no weight has changed yet
        if (found) { sp::print(found); }
        stopped = found.decision() == sp::decision::stop;
        if (found.decision() == sp::decision::proceed) { sgd.step(); }
        loss = error.item<double>();
    }
    watch.finish();
    std::printf("%s, loss %g; the record is in %.*s\n", stopped ? "stopped" : "trained", loss,
                static_cast<int>(watch.path().size()), watch.path().data());
    return stopped ? 3 : loss < 0.05 ? 0 : 1;
}
)file"}};

inline constexpr std::array c_project{
    project_file{"CMakeLists.txt", R"file(
add_executable(train train.c watch.cpp)
target_link_libraries(train PRIVATE spotter::spotter)
)file"},
    project_file{"watch.cpp", R"file(// The one C++20 file of train.c: what is recorded, and which rules judge.
#include <spotter/c/implementation.hpp>

namespace sp = spotter;

spotter_hook* spotter_create(char const* path) {
    constexpr sp::plan keep{sp::collection{"losses", "loss", sp::always{}, sp::payload},
                            sp::collection{"weights", sp::role::weight, sp::every{100}, sp::payload},
                            sp::collection{"gradients", "grad/*", sp::every{10}, sp::stats(sp::l2, sp::maximum)}};
    return sp::make_c_hook(path, keep, sp::on(sp::non_finite{} || sp::exploding_gradient{}, sp::stop));
}
)file"},
    project_file{"train.c", R"file(/* A training loop in C that spotter watches: `train [LEARNING_RATE]`.
 * Ends with 0 when it has learnt, 3 when spotter stopped it, 1 otherwise. */
#include <spotter/c/spotter.h>

#include <stdio.h>
#include <stdlib.h>

#define INPUTS 4
#define BATCH 32

/* A linear model. Put your own here. */
static float weights[INPUTS], gradient[INPUTS];
static const float truth[INPUTS] = {1.0f, -2.0f, 0.5f, 3.0f};
static unsigned long seed = 7;

static float random_number(void) { /* from -1 to 1 */
    seed = (seed * 1103515245UL + 12345UL) & 0x7fffffffUL;
    return (float)(seed >> 16) / 16384.0f - 1.0f;
}

/* One batch: fills the gradient and returns the mean squared error. */
static float forward_backward(void) {
    float loss = 0;
    int sample, i;
    for (i = 0; i < INPUTS; ++i) {
        gradient[i] = 0;
    }
    for (sample = 0; sample < BATCH; ++sample) {
        float x[INPUTS], gap = 0;
        for (i = 0; i < INPUTS; ++i) {
            x[i] = random_number();
            gap += (weights[i] - truth[i]) * x[i];
        }
        loss += gap * gap / BATCH;
        for (i = 0; i < INPUTS; ++i) {
            gradient[i] += 2 * gap * x[i] / BATCH;
        }
    }
    return loss;
}

/* Shows what a step has made; no weight has changed yet. Returns what to do with it. */
static spotter_decision look(spotter_hook* watch, unsigned long step, float loss) {
    static const spotter_uint64 shape[1] = {INPUTS};
    spotter_verdict verdict;
    char line[1024];
    size_t i;
    spotter_begin(watch, SPOTTER_TRAIN, step);
    spotter_observe_f32(watch, "loss", &loss, 0, NULL);
    spotter_observe_f32(watch, "fc/w", weights, 1, shape);
    spotter_observe_f32(watch, "grad/fc/w", gradient, 1, shape);
    verdict = spotter_end(watch);
    for (i = 0; i < verdict.findings; ++i) {
        spotter_describe_finding(watch, i, line, sizeof line);
        printf("%s\n", line);
    }
    return verdict.decision;
}

int main(int argc, char** argv) {
    float const rate = argc > 1 ? (float)atof(argv[1]) : 0.1f;
    spotter_hook* watch = spotter_create("runs/@NAME@");
    spotter_decision decision = SPOTTER_PROCEED;
    float loss = 0;
    unsigned long step;
    int i;
    for (step = 0; step < 500 && decision != SPOTTER_STOP; ++step) {
        loss = forward_backward();
        decision = look(watch, step, loss);
        for (i = 0; i < INPUTS && decision == SPOTTER_PROCEED; ++i) {
            weights[i] -= rate * gradient[i];
        }
    }
    spotter_finish(watch);
    printf("%s, loss %g; the record is in %s\n", decision == SPOTTER_STOP ? "stopped" : "trained", (double)loss,
           spotter_path(watch));
    spotter_destroy(watch);
    return decision == SPOTTER_STOP ? 3 : loss < 0.01f ? 0 : 1;
}
)file"}};

}  // namespace spotter_tool
