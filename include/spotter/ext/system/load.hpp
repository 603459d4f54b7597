// SPDX-License-Identifier: Apache-2.0
// Ext (L6): what a machine and this process did between two samples, as plain numbers. Filled by proc_reader on Linux; on another system by
// whoever knows.
#pragma once

#include <spotter/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// What is not known is not set: each has a bit in `known`. Rates are per second.
struct system_load {
    static constexpr std::size_t most_cores = 1024;

    enum class part : std::uint32_t {
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
    };
    static constexpr std::size_t parts = 11;
    struct pressure {
        float some = 0, full = 0;  // share of the time in which some task, or all of them, waited
    };

    std::uint32_t known = 0;
    double seconds = 0;  // since the sample before

    std::array<float, most_cores> cpu{};  // busy share of each core, time stolen by other machines included
    std::size_t cores = 0;
    float io_wait = 0;      // share of all cores' time: idle, with a disk at work for them
    float stolen = 0;       // share of all cores' time that another machine had
    float own_cores = 0;    // processor seconds of this process a second
    double own_read = 0, own_written = 0;  // bytes that this process had from and gave to disks
    double resident = 0;    // bytes of this process in memory
    double memory = 0;      // of these what there may be: the limit of its group, else the machine's
    double received = 0, sent = 0;      // bytes over all networks but the loop
    double disk_read = 0, disk_written = 0;  // bytes of all disks
    pressure waits_cpu{}, waits_memory{}, waits_io{};
    float temperature = 0;  // degrees Celsius, the hottest zone
    float clock = 0;        // hertz, the mean of all cores

    [[nodiscard]] constexpr bool has(part which) const noexcept { return (known & static_cast<std::uint32_t>(which)) != 0; }
    constexpr void learn(part which) noexcept { known |= static_cast<std::uint32_t>(which); }
};

}  // namespace spotter::inline SPOTTER_ABI
