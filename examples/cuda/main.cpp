// SPDX-License-Identifier: Apache-2.0
// A training loop on CUDA's driver API, with kernels of its own and without the toolkit. Its tensors stay on the card,
// and a NaN in a weight is reported with its element. `example_cuda [--driver=path] [--fault]`.
#include "../common/prng.hpp"
#include "kernels.hpp"
#include "ptx.hpp"

#include <spotter/ext/cuda.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>

namespace sp = spotter;
using namespace sp::literals;

namespace {

// The loop's own use of the driver: a few functions, loaded by name.
class card {
public:
    explicit card(char const* path) : library_{::dlopen(path, RTLD_NOW | RTLD_LOCAL)} {
        if (library_ == nullptr) { return; }
        void* module = nullptr;
        ready =
            call<int(unsigned)>("cuInit")(0) == 0 &&
            call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context_, 0) == 0 &&
            call<int(void*)>("cuCtxPushCurrent_v2")(context_) == 0 &&
            call<int(void**, unsigned)>("cuStreamCreate")(&stream, 1) == 0 &&
            call<int(void**, void const*)>("cuModuleLoadData")(&module, example_cuda::ptx) == 0 &&
            call<int(void**, void*, char const*)>("cuModuleGetFunction")(&backward, module, "train_backward") == 0 &&
            call<int(void**, void*, char const*)>("cuModuleGetFunction")(&update, module, "train_update") == 0;
    }
    [[nodiscard]] float* take(std::vector<float> const& values) const {
        std::uint64_t address = 0;
        (void)call<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(&address, values.size() * sizeof(float));
        write(reinterpret_cast<float*>(address), values.data(), values.size());
        return reinterpret_cast<float*>(address);
    }
    void write(float* to, float const* values, std::size_t count) const {
        (void)call<int(std::uint64_t, void const*, std::size_t)>("cuMemcpyHtoD_v2")(reinterpret_cast<std::uint64_t>(to),
                                                                                    values, count * sizeof(float));
    }
    void launch(void* kernel, void** with) const {
        (void)call<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                       void**)>("cuLaunchKernel")(kernel, 1, 1, 1, example_cuda::samples, 1, 1, 0, stream, with,
                                                  nullptr);
    }

    bool ready = false;
    void* stream = nullptr;
    void *backward = nullptr, *update = nullptr;

private:
    template <class Function>
    [[nodiscard]] Function* call(char const* name) const {
        return reinterpret_cast<Function*>(::dlsym(library_, name));
    }
    void* library_;
    void* context_ = nullptr;
};

}  // namespace

int main(int count, char** arguments) {
    std::string driver = "libcuda.so.1";
    bool fault = false;
    for (int i = 1; i < count; ++i) {
        std::string_view const each{arguments[i]};
        fault = fault || each == "--fault";
        if (each.starts_with("--driver=")) { driver = each.substr(9); }
    }
    card const gpu{driver.c_str()};
    if (!gpu.ready) {
        std::printf("SPOTTER_SKIP: %s is no CUDA driver with a card; --driver=path names another one\n",
                    driver.c_str());
        return 0;
    }
    using namespace example_cuda;
    example::prng random{7};
    std::vector<float> data(samples * inputs), targets(samples), start(inputs);
    for (float& each : data) { each = random.uniform(-1, 1); }
    for (unsigned i = 0; i < samples; ++i) {
        for (unsigned k = 0; k < inputs; ++k) { targets[i] += data[i * inputs + k] * (static_cast<float>(k) - 3); }
    }
    float* const x = gpu.take(data);
    float* const y = gpu.take(targets);
    float* const w = gpu.take(start);
    float* const gradient = gpu.take(start);
    float* const errors = gpu.take(targets);

    sp::cuda_options chosen;
    chosen.library = driver.c_str();
    sp::cuda_device device{chosen};
    constexpr sp::plan keep{sp::collection{"all", "*", sp::always{}, sp::stats(sp::mean, sp::l2)},
                            sp::collection{"weights", "w", sp::every{10}, sp::payload}};
    sp::hook watch{"runs/cuda", keep, sp::non_finite{}, device.tensors(),
                   sp::options{.existing = sp::existing::replace}};
    float rate = 0.1F;
    void* to_learn[] = {const_cast<float**>(&x), const_cast<float**>(&y), const_cast<float**>(&w),
                        const_cast<float**>(&gradient), const_cast<float**>(&errors)};
    void* to_update[] = {const_cast<float**>(&w), const_cast<float**>(&gradient), &rate};
    bool found = false;
    auto const tell = [&](sp::step_alarm const& alarm) {
        for (sp::finding const& each : alarm) {
            found = true;
            std::printf("%s(%llu): \"%.*s\": %s\n", std::string{sp::name_of(each.step.mode)}.c_str(),
                        static_cast<unsigned long long>(each.step.index), static_cast<int>(each.tensor.size()),
                        each.tensor.data(), std::string{each.detail.view()}.c_str());
        }
    };
    for (std::uint64_t i = 0; i < 60 && !found; ++i) {
        if (fault && i == 30) {
            float const bad = std::numeric_limits<float>::quiet_NaN();
            gpu.write(w + 5, &bad, 1);
        }
        gpu.launch(gpu.backward, to_learn);
        tell(watch.step(sp::train(i), "w"_t = sp::on_device(w, {inputs}, gpu.stream),
                        "grad/w"_t = sp::on_device(gradient, {inputs}, gpu.stream),
                        "errors"_t = sp::on_device(errors, {samples}, gpu.stream)));
        gpu.launch(gpu.update, to_update);
    }
    watch.finish();
    tell(watch.end());
    auto const health = watch.health();
    std::printf("%llu steps, %s; launches %llu, waits %llu\n", static_cast<unsigned long long>(health.steps),
                health.good() ? "all taken" : std::string{health.first_error.what.view()}.c_str(),
                static_cast<unsigned long long>(device.done().launches),
                static_cast<unsigned long long>(device.done().waits));
    return found ? 3 : health.good() ? 0 : 1;
}
