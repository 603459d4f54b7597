// SPDX-License-Identifier: Apache-2.0
// Ext (L6): what NVIDIA's GPUs do, asked of the driver's library where it is there (Linux).
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/ext/system/load.hpp>

namespace spotter::inline SPOTTER_ABI {

// Loads the library when it is made, with declarations of its own: no header of NVIDIA's is needed to compile. Where it
// is not there, or says that there is no device, nothing is sampled. A device that is lost, and what one does not tell,
// is not a number; a value that cannot be, as more memory in use than there is, is none. One thread at a time.
class nvml_reader {
public:
    explicit nvml_reader(char const* library = "libnvidia-ml.so.1") noexcept;
    nvml_reader(nvml_reader const&) = delete;
    nvml_reader& operator=(nvml_reader const&) = delete;
    ~nvml_reader();

    // The driver measures what goes over PCIe for 20 ms a direction and device, and the call lasts as long: only where
    // it is asked for.
    void sample(bool with_pcie, system_load& into) noexcept;

    [[nodiscard]] bool is_there() const noexcept { return count_ > 0; }  // the library, and a GPU
    // The first thing that went wrong with a library that is there.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

private:
    using device = struct nvml_device*;
    // Of NVML's documentation, "API Reference": names, arguments and what they mean. 0 is success.
    struct utilization {
        unsigned gpu = 0, memory = 0;  // percent of the time since the last look of the driver's
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
