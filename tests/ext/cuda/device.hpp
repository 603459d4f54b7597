// SPDX-License-Identifier: Apache-2.0
// A GPU for tests: the loaded stand-in for CUDA's driver, and tensors in its memory.
#pragma once

#include <spotter/ext/cuda.hpp>
#include <tests/ext/cuda/fake_cuda.hpp>

#include <cstring>
#include <span>
#include <vector>

#include <dlfcn.h>

namespace spotter_test {

// The stand-in driver, loaded as the library loads CUDA's.
struct fake_driver {
    void* library = ::dlopen(SPOTTER_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);

    template <class Call>
    [[nodiscard]] Call call(char const* name) const {
        return reinterpret_cast<Call>(::dlsym(library, name));
    }
    [[nodiscard]] fake_cuda& state() const { return *call<fake_cuda* (*)()>("fake_cuda_state")(); }
    void step() const { (void)call<int (*)()>("fake_cuda_step")(); }
    void heal() const { call<void (*)()>("fake_cuda_heal")(); }
};
inline fake_driver const& driver() {
    static fake_driver const one;
    return one;
}
// The stand-in in working order, as every test begins.
inline fake_cuda& card() {
    fake_cuda& it = driver().state();
    it.held = false;
    driver().heal();
    driver().step();  // leftover work may fail
    driver().heal();
    it.reset();
    return it;
}
[[nodiscard]] inline spotter::cuda_options stand_in() {
    spotter::cuda_options chosen;
    chosen.library = SPOTTER_FAKE_CUDA;
    return chosen;
}

// Values in the card's memory, which is memory of this process.
template <class Value>
class on_card {
public:
    explicit on_card(std::span<Value const> values) : count_{values.size()} {
        auto const allocate = driver().call<int (*)(std::uint64_t*, std::size_t)>("cuMemAlloc_v2");
        context now;
        (void)allocate(&address_, count_ * sizeof(Value) + 1);
        if (count_ > 0) { std::memcpy(reinterpret_cast<void*>(address_), values.data(), count_ * sizeof(Value)); }
    }
    explicit on_card(std::vector<Value> const& values) : on_card{std::span<Value const>{values}} {}
    on_card(on_card const&) = delete;
    on_card& operator=(on_card const&) = delete;
    ~on_card() { free(); }
    void free() {
        context now;
        if (address_ != 0) { (void)driver().call<int (*)(std::uint64_t)>("cuMemFree_v2")(address_); }
        address_ = 0;
    }
    [[nodiscard]] Value* data() const { return reinterpret_cast<Value*>(address_); }
    [[nodiscard]] spotter::device_values whole(void* stream = nullptr) const {
        return spotter::on_device(static_cast<Value const*>(data()), {count_}, stream);
    }

private:
    struct context {
        context() {
            void* it = nullptr;
            (void)driver().call<int (*)(void**, int)>("cuDevicePrimaryCtxRetain")(&it, 0);
            (void)driver().call<int (*)(void*)>("cuCtxPushCurrent_v2")(it);
        }
        ~context() {
            void* it = nullptr;
            (void)driver().call<int (*)(void**)>("cuCtxPopCurrent_v2")(&it);
            (void)driver().call<int (*)(int)>("cuDevicePrimaryCtxRelease_v2")(0);
        }
    };
    std::uint64_t address_ = 0;
    std::size_t count_ = 0;
};

}  // namespace spotter_test
