// SPDX-License-Identifier: Apache-2.0
// Ext (L6): samples NVIDIA GPUs through the driver's library, if it is installed (Linux).
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/ext/system/load.hpp>

namespace spotter::inline SPOTTER_ABI {

// Loads the library in the constructor and declares its functions itself: compiling needs no header of NVIDIA. Without
// the library or a device, nothing is sampled. Values of a lost device, and unavailable values, are NaN; impossible
// values, such as more memory in use than there is, are discarded. Use it in one thread at a time.
class nvml_reader {
public:
    explicit nvml_reader(char const* library = "libnvidia-ml.so.1") noexcept;
    nvml_reader(nvml_reader const&) = delete;
    nvml_reader& operator=(nvml_reader const&) = delete;
    ~nvml_reader();

    // Measuring PCIe traffic blocks for 20 ms for each direction and device, so it is optional.
    void sample(bool with_pcie, system_load& into) noexcept;

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

    void start() noexcept;
    void note(std::size_t which, int code, char const* what) noexcept;
    template <class Call>
    void load(Call& call, char const* name) noexcept;
    // Whether the library has the function and the device supports it.
    template <class Call, class... Arguments>
    [[nodiscard]] static bool tells(Call call, Arguments... arguments) noexcept {
        return call != nullptr && call(arguments...) == 0;
    }
    void sample(device from, std::size_t which, bool with_pcie, system_load::gpu& into) noexcept;

    void* library_ = nullptr;
    calls calls_{};
    device devices_[system_load::most_gpus]{};
    std::size_t count_ = 0;
    bool begun_ = false;
    error trouble_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/ext/system/nvml_reader.ipp>
#endif
