// SPDX-License-Identifier: Apache-2.0
// A stand-in for CUDA's driver. It runs the kernels' C++ source on the processor, with streams and events, and fails or
// waits on a test's request. The device's memory is this process's.
#include <examples/cuda/kernels.hpp>
#include <tests/ext/cuda/fake_cuda.hpp>
#include <tests/ext/cuda/processor_kernels.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

using namespace spotter::detail::cuda_pass;

enum : int {
    success = 0,
    invalid_value = 1,
    no_memory = 2,
    no_card = 100,
    invalid_context = 201,
    invalid_ptx = 218,
    not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    context_destroyed = 709
};

struct stream {
    std::deque<std::function<bool()>> work;  // each returns false if it has to wait
};
struct event {
    std::uint64_t recorded = 0, done = 0;
    std::chrono::steady_clock::time_point at{};
};
struct kernel {
    std::vector<std::size_t> sizes;  // the kernel's parameter sizes
    fake_kernel run = nullptr;
};
struct module {
    std::string text;
};

// All state of the driver, one instance per process.
struct driver {
    std::mutex lock;
    fake_cuda state;
    std::map<std::uint64_t, std::size_t> memory;       // device memory, by address
    std::map<std::uint64_t, std::size_t> page_locked;  // of the host
    std::map<std::string, kernel> kernels;
    std::vector<stream*> streams;
    stream legacy;
    int broken = 0;   // the error code of a lost context
    int context = 0;  // its address serves as the context
    std::size_t used = 0, locked = 0;

    [[nodiscard]] bool is_mapped(std::uint64_t address, std::size_t bytes) const {
        for (auto const* each : {&memory, &page_locked}) {
            auto it = each->upper_bound(address);
            if (it == each->begin()) { continue; }
            --it;
            if (address >= it->first && address - it->first + bytes <= it->second) { return true; }
        }
        return false;
    }
    [[nodiscard]] bool advance(stream& it) {
        bool any = false;
        while (!it.work.empty() && broken == 0) {
            auto const head = it.work.front();
            if (!head()) { break; }
            it.work.pop_front();
            any = true;
        }
        return any;
    }
    bool advance_all() {
        bool any = false;
        for (bool again = true; again;) {
            again = advance(legacy);
            for (stream* const each : streams) { again = advance(*each) || again; }
            any = any || again;
        }
        return any;
    }
};
driver& it() {
    static driver* const one = new driver;  // outlives every static of the program
    return *one;
}
thread_local std::vector<void*> contexts;

// Returns 0 if the call goes on, otherwise the error code that it returns.
int enter(bool needs_context = true) {
    fake_cuda& state = it().state;
    ++state.calls;
    if (state.context_dead && needs_context) { return context_destroyed; }
    if (it().broken != 0) { return it().broken; }
    if (state.fail_at > 0 && --state.fail_at == 0) {
        if (state.sticky) { it().broken = state.code; }
        return state.code;
    }
    return needs_context && contexts.empty() ? invalid_context : success;
}
stream& of(void* which) { return which == nullptr ? it().legacy : *static_cast<stream*>(which); }
int put(void* where, std::function<bool()> what) {
    of(where).work.push_back(std::move(what));
    if (!it().state.held) { it().advance_all(); }
    return it().broken;
}

void blocks_kernel(unsigned, unsigned, void** with) {
    auto const& tasks = *static_cast<task_list const*>(with[0]);
    auto const count = *static_cast<std::uint32_t const*>(with[1]);
    auto const blocks = *static_cast<std::uint64_t const*>(with[2]);
    for (std::uint32_t i = 0; i < count; ++i) {
        task const& each = tasks.of[i];
        if (it().is_mapped(each.values, each.bytes)) { continue; }
        ++it().state.bad_reads;
        it().broken = illegal_address;
        return;
    }
    run_blocks(tasks, count, blocks, *static_cast<partial* const*>(with[3]));
}
void fold_kernel(unsigned grid, unsigned, void** with) {
    run_fold(*static_cast<task_list const*>(with[0]), grid, *static_cast<partial* const*>(with[1]),
             *static_cast<result* const*>(with[2]));
}
void chains_kernel(unsigned grid, unsigned, void** with) {
    run_chains(*static_cast<task_list const*>(with[0]), grid, *static_cast<result* const*>(with[1]));
}

// The kernel of the example.
void backward_kernel(unsigned, unsigned threads, void** with) {
    auto const at = [&](int i) { return *static_cast<float**>(with[i]); };
    for (unsigned thread = 0; thread < threads; ++thread) {
        example_cuda::error_of(at(0), at(1), at(2), at(4), thread);
        if (thread < example_cuda::inputs) { example_cuda::gradient_of(at(0), at(1), at(2), at(3), thread); }
    }
}
void update_kernel(unsigned, unsigned, void** with) {
    auto const rate = *static_cast<float const*>(with[2]);
    for (unsigned k = 0; k < example_cuda::inputs; ++k) {
        example_cuda::update(*static_cast<float**>(with[0]), *static_cast<float**>(with[1]), rate, k);
    }
}

using guard = std::lock_guard<std::mutex>;

}  // namespace

#define ENTER(...)                                                                                                     \
    guard const locked{it().lock};                                                                                     \
    if (int const code = enter(__VA_ARGS__); code != success) { return code; }

extern "C" {

fake_cuda* fake_cuda_state() { return &it().state; }
int fake_cuda_step() {
    guard const locked{it().lock};
    return it().advance_all() ? 1 : 0;
}
void fake_cuda_heal() { it().broken = 0; }
int cuInit(unsigned) {
    ENTER(false)
    it().kernels["spotter_blocks"] = {{sizeof(task_list), 4, 8, 8}, blocks_kernel};
    it().kernels["spotter_chains"] = {{sizeof(task_list), 8}, chains_kernel};
    it().kernels["train_backward"] = {{8, 8, 8, 8, 8}, backward_kernel};
    it().kernels["train_update"] = {{8, 8, 4}, update_kernel};
    it().kernels["spotter_fold"] = {{sizeof(task_list), 8, 8}, fold_kernel};
    return it().state.cards > 0 ? success : no_card;
}
int cuDriverGetVersion(int* version) {
    ENTER(false)
    *version = it().state.version;
    return success;
}
int cuGetErrorName(int code, char const** name) {
    switch (code) {
        case no_memory:
            *name = "CUDA_ERROR_OUT_OF_MEMORY";
            return success;
        case illegal_address:
            *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
            return success;
        case context_destroyed:
            *name = "CUDA_ERROR_CONTEXT_IS_DESTROYED";
            return success;
        case no_card:
            *name = "CUDA_ERROR_NO_DEVICE";
            return success;
        default:
            *name = nullptr;
            return invalid_value;
    }
}
int cuDeviceGetCount(int* count) {
    ENTER(false)
    *count = it().state.cards;
    return success;
}
int cuDeviceGet(int* card, int ordinal) {
    ENTER(false)
    *card = ordinal;
    return ordinal < it().state.cards ? success : 101;
}
int cuDeviceGetAttribute(int* value, int which, int) {
    ENTER(false)
    *value = which == 75 ? it().state.major : which == 16 ? 4 : 0;
    return success;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    ENTER(false)
    *context = &it().context;
    ++it().state.retained;
    return success;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    ENTER(false)
    --it().state.retained;
    return success;
}
int cuCtxGetCurrent(void** context) {
    ENTER(false)
    *context = contexts.empty() ? nullptr : contexts.back();
    return success;
}
int cuCtxGetDevice(int* card) {
    ENTER()
    *card = 0;
    return success;
}
int cuCtxPushCurrent_v2(void* context) {
    ENTER(false)
    if (it().state.context_dead) { return context_destroyed; }
    if (context != &it().context) { return invalid_context; }
    contexts.push_back(context);
    return success;
}
int cuCtxPopCurrent_v2(void** context) {
    guard const locked{it().lock};
    if (contexts.empty()) { return invalid_context; }
    *context = contexts.back();
    contexts.pop_back();
    return success;
}
int cuModuleLoadData(void** made, char const* text) {
    ENTER()
    std::string const all{text};
    if (all.find(".version") == std::string::npos || all.find(".entry") == std::string::npos) { return invalid_ptx; }
    *made = new module{all};
    ++it().state.live_modules;
    return success;
}
int cuModuleUnload(void* gone) {
    ENTER()
    delete static_cast<module*>(gone);
    --it().state.live_modules;
    return success;
}
int cuModuleGetFunction(void** found, void* in, char const* name) {
    ENTER()
    auto const at = it().kernels.find(name);
    bool const reported = static_cast<module*>(in)->text.find(std::string{".entry "} + name) != std::string::npos;
    if (at == it().kernels.end() || !reported) { return not_found; }
    *found = &at->second;
    return success;
}
int cuStreamCreate(void** made, unsigned) {
    ENTER()
    it().streams.push_back(new stream);
    *made = it().streams.back();
    ++it().state.live_streams;
    return success;
}
int cuStreamDestroy_v2(void* gone) {
    ENTER()
    std::erase(it().streams, static_cast<stream*>(gone));
    delete static_cast<stream*>(gone);
    --it().state.live_streams;
    return success;
}
int cuStreamIsCapturing(void*, int* status) {
    ENTER()
    *status = it().state.capturing ? 1 : 0;
    return success;
}
int cuStreamSynchronize(void* which) {
    ENTER()
    ++it().state.waits;
    it().advance_all();
    return of(which).work.empty() ? it().broken : not_ready;
}
int cuCtxSynchronize() {
    ENTER()
    ++it().state.waits;
    it().advance_all();
    return it().broken;
}
int cuStreamWaitEvent(void* which, void* what, unsigned) {
    ENTER()
    auto* const awaited = static_cast<event*>(what);
    std::uint64_t const until = awaited->recorded;
    return put(which, [awaited, until] { return awaited->done >= until; });
}
int cuEventCreate(void** made, unsigned) {
    ENTER()
    *made = new event;
    ++it().state.live_events;
    return success;
}
int cuEventDestroy_v2(void* gone) {
    ENTER()
    delete static_cast<event*>(gone);
    --it().state.live_events;
    return success;
}
int cuEventRecord(void* what, void* where) {
    ENTER()
    auto* const marked = static_cast<event*>(what);
    std::uint64_t const number = ++marked->recorded;
    return put(where, [marked, number] {
        marked->done = number;
        marked->at = std::chrono::steady_clock::now();
        return true;
    });
}
int cuEventQuery(void* what) {
    ENTER()
    auto const* const asked = static_cast<event*>(what);
    if (!it().state.held) { it().advance_all(); }
    if (it().broken != 0) { return it().broken; }
    return asked->done >= asked->recorded ? success : not_ready;
}
int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
    ENTER()
    std::chrono::duration<float, std::milli> const gone = static_cast<event*>(to)->at - static_cast<event*>(from)->at;
    *milliseconds = gone.count();
    return success;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
    ENTER()
    if (bytes == 0) { return invalid_value; }
    if (it().used + bytes > it().state.card_bytes) { return no_memory; }
    *address = reinterpret_cast<std::uintptr_t>(std::malloc(bytes));
    it().memory[*address] = bytes;
    it().used += bytes;
    ++it().state.live_memory;
    return success;
}
int cuMemFree_v2(std::uint64_t address) {
    ENTER()
    auto const at = it().memory.find(address);
    if (at == it().memory.end()) { return invalid_value; }
    it().used -= at->second;
    it().memory.erase(at);
    std::free(reinterpret_cast<void*>(address));
    --it().state.live_memory;
    return success;
}
int cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
    ENTER()
    if (it().locked + bytes > it().state.pinned_bytes) { return no_memory; }
    *address = std::malloc(bytes);
    it().page_locked[reinterpret_cast<std::uintptr_t>(*address)] = bytes;
    it().locked += bytes;
    ++it().state.live_pinned;
    return success;
}
int cuMemFreeHost(void* address) {
    ENTER()
    auto const at = it().page_locked.find(reinterpret_cast<std::uintptr_t>(address));
    if (at == it().page_locked.end()) { return invalid_value; }
    it().locked -= at->second;
    it().page_locked.erase(at);
    std::free(address);
    --it().state.live_pinned;
    return success;
}
int cuMemcpyDtoHAsync_v2(void* into, std::uint64_t from, std::size_t bytes, void* where) {
    ENTER()
    ++it().state.copies;
    it().state.copied_bytes += bytes;
    return put(where, [=] {
        if (!it().is_mapped(from, bytes)) {
            it().broken = illegal_address;
        } else {
            std::memcpy(into, reinterpret_cast<void const*>(from), bytes);
        }
        return true;
    });
}
int cuMemcpyDtoDAsync_v2(std::uint64_t into, std::uint64_t from, std::size_t bytes, void* where) {
    return cuMemcpyDtoHAsync_v2(reinterpret_cast<void*>(into), from, bytes, where);
}
int cuMemcpyHtoD_v2(std::uint64_t into, void const* from, std::size_t bytes) {
    ENTER()
    it().advance_all();
    std::memcpy(reinterpret_cast<void*>(into), from, bytes);
    return success;
}
int cuMemcpyDtoH_v2(void* into, std::uint64_t from, std::size_t bytes) {
    ENTER()
    ++it().state.waits;
    it().advance_all();
    std::memcpy(into, reinterpret_cast<void const*>(from), bytes);
    return success;
}
int cuPointerGetAttribute(void* into, int which, std::uint64_t address) {
    ENTER()
    if (!it().is_mapped(address, 1)) { return invalid_value; }
    *static_cast<int*>(into) = which == 9 ? 0 : 2;
    return success;
}
int cuMemGetAddressRange_v2(std::uint64_t* base, std::size_t* size, std::uint64_t address) {
    ENTER()
    for (auto const* each : {&it().memory, &it().page_locked}) {
        auto at = each->upper_bound(address);
        if (at == each->begin()) { continue; }
        --at;
        if (address - at->first >= at->second) { continue; }
        *base = at->first;
        *size = at->second;
        return success;
    }
    return not_found;
}
int cuLaunchKernel(void* what, unsigned grid, unsigned, unsigned, unsigned block_threads, unsigned, unsigned, unsigned,
                   void* where, void** parameters, void**) {
    ENTER()
    if (grid == 0 || block_threads == 0) { return invalid_value; }
    ++it().state.launches;
    kernel const& one = *static_cast<kernel const*>(what);
    auto const kept = std::make_shared<std::vector<std::vector<unsigned char>>>();
    for (std::size_t i = 0; i < one.sizes.size(); ++i) {
        auto const* const from = static_cast<unsigned char const*>(parameters[i]);
        kept->emplace_back(from, from + one.sizes[i]);
    }
    fake_kernel const run = one.run;
    return put(where, [kept, run, grid, block_threads] {
        std::vector<void*> with;
        for (auto& each : *kept) { with.push_back(each.data()); }
        run(grid, block_threads, with.data());
        return true;
    });
}
}
