// SPDX-License-Identifier: Apache-2.0
// Ext (L6): the activity of the machine and this process between two samples, as plain numbers. Filled by proc_reader
// and nvml_reader on Linux, and by the program (system_options::fill).
#pragma once

#include <spotter/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace spotter::inline SPOTTER_ABI {

// Unknown values are not set: each part has a bit in `known`. Rates are per second.
struct system_load {
    static constexpr std::size_t most_cores = 1024, most_gpus = 16;  // further ones are left out

    enum class part : std::uint32_t {  // values that are read together; a bit in `known`
        cpu = 1U << 0,
        own_cpu = 1U << 1,
        own_io = 1U << 2,
        memory = 1U << 3,
        network = 1U << 4,
        disk = 1U << 5,
        pressure_cpu = 1U << 6,
        pressure_memory = 1U << 7,
        pressure_io = 1U << 8,
        temperature = 1U << 9,
        clock = 1U << 10,
        gpu = 1U << 11,
    };
    static constexpr std::size_t parts = 12;  // number of parts
    struct pressure {                         // Linux's pressure stall information
        float some = 0, full = 0;             // share of the time in which some task, or all tasks, waited
    };
    // Unknown values are NaN.
    struct gpu {
        // NaN, so equal to nothing: test values with is_finite.
        static constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
        float busy = unknown;                      // share of the time in which a kernel ran
        float memory = unknown;                    // share of its memory in use
        float power = unknown;                     // watts
        float temperature = unknown;               // degrees Celsius
        float slowed = unknown;                    // 1: its clock is throttled by heat or power; 0: it is not
        float received = unknown, sent = unknown;  // bytes a second over PCIe
    };

    std::uint32_t known = 0;  // bits of `part`
    double seconds = 0;       // since the previous sample

    std::array<float, most_cores> cpu{};     // busy share of each core, including time stolen by other virtual machines
    std::size_t cores = 0;                   // number of valid entries
    float busy = 0;                          // share of all cores' time, stolen time included
    float io_wait = 0;                       // share of all cores' time: idle while a disk request is pending
    float stolen = 0;                        // share of all cores' time that other virtual machines took
    float own_cores = 0;                     // processor seconds of this process a second
    double own_read = 0, own_written = 0;    // bytes that this process read from and wrote to disks
    double resident = 0;                     // bytes of this process in memory, mapped files included
    double held = 0;                         // without mapped files: allocated and not released
    double memory = 0;                       // limit of that: of its control group, or else of the machine
    double received = 0, sent = 0;           // bytes over all networks except loopback
    double disk_read = 0, disk_written = 0;  // bytes of all disks
    pressure waits_cpu{}, waits_memory{}, waits_io{};  // what tasks waited for
    float temperature = 0;                             // degrees Celsius, the hottest zone
    float clock = 0;                                   // hertz, the mean of all cores

    std::array<gpu, most_gpus> gpus{};  // the first gpu_count are valid
    std::size_t gpu_count = 0;          // readable ones
    // Threads or processes that prepare data, as counted by the program; NaN if it does not.
    float loader_workers = gpu::unknown;

    // The share of all cores that others used: other programs and other virtual machines.
    [[nodiscard]] constexpr float taken() const noexcept {
        float const others = cores > 0 ? busy - own_cores / static_cast<float>(cores) : 0;
        return others > 0 ? others : 0;
    }
    // Whether the part is known.
    [[nodiscard]] constexpr bool has(part which) const noexcept {
        return (known & static_cast<std::uint32_t>(which)) != 0;
    }
    constexpr void learn(part which) noexcept { known |= static_cast<std::uint32_t>(which); }  // marks it as known
};

}  // namespace spotter::inline SPOTTER_ABI
