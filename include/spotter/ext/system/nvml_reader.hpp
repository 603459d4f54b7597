// SPDX-License-Identifier: Apache-2.0
// Ext (L6): samples NVIDIA GPUs through the driver's library, if it is installed (Linux).
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/ext/system/load.hpp>

#include <bit>
#include <dlfcn.h>

namespace spotter::inline SPOTTER_ABI {

// Loads the library in the constructor and declares its functions itself: compiling needs no header of NVIDIA. Without
// the library or a device, nothing is sampled. Values of a lost device, and unavailable values, are NaN; impossible
// values, such as more memory in use than there is, are discarded. Use it in one thread at a time.
class nvml_reader {
public:
    explicit nvml_reader(char const* library = "libnvidia-ml.so.1") noexcept {
        library_ = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (library_ != nullptr) { start(); }
    }

    nvml_reader(nvml_reader const&) = delete;
    nvml_reader& operator=(nvml_reader const&) = delete;

    ~nvml_reader() {
        if (begun_ && calls_.shutdown != nullptr) { (void)calls_.shutdown(); }
        if (library_ != nullptr) { (void)::dlclose(library_); }
    }

    // Measuring PCIe traffic blocks for 20 ms for each direction and device, so it is optional.
    void sample(bool with_pcie, system_load& into) noexcept {
        into.gpu_count = count_;
        for (std::size_t i = 0; i < count_; ++i) {
            into.gpus[i] = {};
            if (devices_[i] != nullptr) { sample(devices_[i], i, with_pcie, into.gpus[i]); }
        }
        if (count_ > 0) { into.learn(system_load::part::gpu); }
    }

    [[nodiscard]] bool is_there() const noexcept { return count_ > 0; }  // the library and at least one GPU
    // The first error of an installed library.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

private:
    using device = struct nvml_device*;
    // Names, arguments and meanings follow NVML's documentation, "API Reference". 0 is success.
    struct utilization {
        unsigned gpu = 0, memory = 0;  // percent of the time since the driver's last measurement
    };
    struct memory_info {
        unsigned long long total = 0, free = 0, used = 0;  // bytes
    };
    static constexpr int gpu_is_lost = 15;

    struct calls {
        int (*init)() = nullptr;
        int (*shutdown)() = nullptr;
        int (*count)(unsigned*) = nullptr;
        int (*handle)(unsigned, device*) = nullptr;
        int (*utilization_of)(device, utilization*) = nullptr;
        int (*memory_of)(device, memory_info*) = nullptr;
        int (*power_of)(device, unsigned*) = nullptr;                 // milliwatts
        int (*temperature_of)(device, int, unsigned*) = nullptr;      // sensor 0; degrees Celsius
        int (*throttling_of)(device, unsigned long long*) = nullptr;  // bits of reasons
        int (*pcie_of)(device, int, unsigned*) = nullptr;             // 0 sent, 1 received; KB/s
    };

    void start() noexcept {
        load(calls_.init, "nvmlInit_v2");
        load(calls_.shutdown, "nvmlShutdown");
        load(calls_.count, "nvmlDeviceGetCount_v2");
        load(calls_.handle, "nvmlDeviceGetHandleByIndex_v2");
        load(calls_.utilization_of, "nvmlDeviceGetUtilizationRates");
        load(calls_.memory_of, "nvmlDeviceGetMemoryInfo");
        load(calls_.power_of, "nvmlDeviceGetPowerUsage");
        load(calls_.temperature_of, "nvmlDeviceGetTemperature");
        load(calls_.throttling_of, "nvmlDeviceGetCurrentClocksThrottleReasons");
        load(calls_.pcie_of, "nvmlDeviceGetPcieThroughput");
        if (calls_.init == nullptr || calls_.count == nullptr || calls_.handle == nullptr) {
            trouble_ = {errc::bad_config,
                        "libnvidia-ml.so.1 is there, and is not NVIDIA's management library: GPUs are not sampled"};
            return;
        }
        if (int const code = calls_.init(); code != 0) { return note(0, code, "nvmlInit_v2"); }
        begun_ = true;
        unsigned found = 0;
        if (int const code = calls_.count(&found); code != 0) { return note(0, code, "nvmlDeviceGetCount_v2"); }
        // Devices that this process may not access keep their index, and have no values.
        for (; count_ < found && count_ < system_load::most_gpus; ++count_) {
            if (int const code = calls_.handle(static_cast<unsigned>(count_), &devices_[count_]); code != 0) {
                devices_[count_] = nullptr;
                note(count_, code, "nvmlDeviceGetHandleByIndex_v2");
            }
        }
    }

    void note(std::size_t which, int code, char const* what) noexcept {
        if (trouble_) { return; }
        trouble_.code = errc::io_error;
        trouble_.what << "NVML: GPU " << which << ": " << what << " (code " << code
                      << "); it is not sampled from here on";
    }

    template <class Call>
    void load(Call& call, char const* name) noexcept {
        static_assert(sizeof(Call) == sizeof(void*));
        call = std::bit_cast<Call>(::dlsym(library_, name));
    }
    // Whether the library has the function and the device supports it.
    template <class Call, class... Arguments>
    [[nodiscard]] static bool tells(Call call, Arguments... arguments) noexcept {
        return call != nullptr && call(arguments...) == 0;
    }

    void sample(device from, std::size_t which, bool with_pcie, system_load::gpu& into) noexcept {
        utilization busy;
        if (calls_.utilization_of != nullptr) {
            int const code = calls_.utilization_of(from, &busy);
            if (code == gpu_is_lost) {
                devices_[which] = nullptr;
                return note(which, code, "the GPU is lost");
            }
            if (code == 0 && busy.gpu <= 100) { into.busy = 0.01F * static_cast<float>(busy.gpu); }
        }
        memory_info memory;
        if (tells(calls_.memory_of, from, &memory) && memory.total > 0 && memory.used <= memory.total) {
            into.memory = static_cast<float>(static_cast<double>(memory.used) / static_cast<double>(memory.total));
        }
        unsigned value = 0;
        if (tells(calls_.power_of, from, &value)) { into.power = static_cast<float>(value) / 1000.0F; }
        if (tells(calls_.temperature_of, from, 0, &value)) { into.temperature = static_cast<float>(value); }
        unsigned long long reasons = 0;
        if (tells(calls_.throttling_of, from, &reasons)) {
            // Software power cap, hardware slowdown, software and hardware thermal slowdown, power brake; not idling or
            // user settings.
            constexpr unsigned long long held_down = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
            into.slowed = (reasons & held_down) != 0 ? 1.0F : 0.0F;
        }
        if (!with_pcie) { return; }
        if (tells(calls_.pcie_of, from, 0, &value)) { into.sent = 1e3F * static_cast<float>(value); }
        if (tells(calls_.pcie_of, from, 1, &value)) { into.received = 1e3F * static_cast<float>(value); }
    }

    void* library_ = nullptr;
    calls calls_{};
    device devices_[system_load::most_gpus]{};
    std::size_t count_ = 0;
    bool begun_ = false;
    error trouble_{};
};

}  // namespace spotter::inline SPOTTER_ABI
