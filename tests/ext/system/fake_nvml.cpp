// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVIDIA's management library: it returns what a test sets, fails, loses a device, or returns impossible
// values.
#include <tests/ext/system/fake_nvml.hpp>

#include <cstddef>

namespace {

fake_nvml state;
int devices[64];

fake_nvml::device& of(void* handle) { return state.all[static_cast<int*>(handle) - devices]; }
int answer(void* handle) { return of(handle).code; }

}  // namespace

extern "C" {

struct utilization {
    unsigned gpu, memory;
};
struct memory_info {
    unsigned long long total, free, used;
};

fake_nvml* fake_nvml_state() { return &state; }

int nvmlInit_v2() {
    state.open += state.init == 0 ? 1 : 0;
    return state.init;
}
int nvmlShutdown() {
    --state.open;
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = state.count;
    return state.counting;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
    *handle = &devices[index];
    return state.all[index].hidden;
}
int nvmlDeviceGetUtilizationRates(void* handle, utilization* into) {
    *into = {of(handle).busy, 0};
    return answer(handle);
}
int nvmlDeviceGetMemoryInfo(void* handle, memory_info* into) {
    *into = {of(handle).total, 0, of(handle).used};
    return answer(handle);
}
int nvmlDeviceGetPowerUsage(void* handle, unsigned* into) {
    *into = 250'500;
    return of(handle).no_power;
}
int nvmlDeviceGetTemperature(void* handle, int sensor, unsigned* into) {
    *into = 71;
    return sensor == 0 ? answer(handle) : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* handle, unsigned long long* into) {
    *into = of(handle).reasons;
    return answer(handle);
}
int nvmlDeviceGetPcieThroughput(void* handle, int which, unsigned* into) {
    ++state.pcie_asked;
    *into = which == 0 ? 1000 : 3000;
    return answer(handle);
}
}
