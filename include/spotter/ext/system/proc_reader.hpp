// SPDX-License-Identifier: Apache-2.0
// Ext (L6): samples of the machine's activity from /proc and /sys (Linux).
#pragma once

#include <spotter/ext/system/load.hpp>
#include <spotter/file/file_system.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Keeps its files open and reads them again at each sample: one system call each, no allocation. If a file is missing,
// unreadable or malformed, its part is left out. Use it in one thread at a time.
class proc_reader {
public:
    // `proc` and `sys` are the mount points.
    explicit proc_reader(std::string_view proc = "/proc", std::string_view sys = "/sys") noexcept;
    proc_reader(proc_reader const&) = delete;
    proc_reader& operator=(proc_reader const&) = delete;
    ~proc_reader();

    // The activity since the previous call; the first call only has values that need none. `now` is in seconds, of a
    // monotonic clock.
    void sample(double now, system_load& into) noexcept;

    // Parts missing from the last sample, as bits of system_load::part.
    [[nodiscard]] std::uint32_t missing() const noexcept { return missing_; }
    // The missing parts that this system has provided before.
    [[nodiscard]] std::uint32_t unreadable() const noexcept { return missing_ & had_; }
    [[nodiscard]] static std::string_view file_of(system_load::part which) noexcept;  // the file of that part, for
                                                                                      // messages

private:
    enum file : std::size_t {
        stat,
        own_stat,
        own_io,
        own_memory,
        memory,
        group_memory,
        network,
        disks,
        pressure_cpu,
        pressure_memory,
        pressure_io,
        files
    };
    static constexpr std::size_t buffer_bytes = 128U << 10, zones = 16, clocks = 64;

    // Clock ticks of a core, or of all cores.
    struct core_time {
        std::uint64_t busy = 0, idle = 0, io_wait = 0, stolen = 0;
    };
    struct totals {
        core_time all{};
        std::uint64_t own_ticks = 0, own_read = 0, own_written = 0, received = 0, sent = 0, disk_read = 0,
                      disk_written = 0;
        std::uint64_t some[3]{}, full[3]{};  // microseconds of pressure
    };

    void open(file which, system_load::part of, std::string_view folder, std::string_view name) noexcept;
    void open_limit(std::string_view proc, std::string_view sys) noexcept;
    void open_zones(std::string_view sys) noexcept;
    [[nodiscard]] std::string_view read(int descriptor) noexcept;
    [[nodiscard]] std::string_view read(file which) noexcept { return read(descriptors_[which]); }
    void lack(system_load::part which) noexcept { missing_ |= static_cast<std::uint32_t>(which); }

    void take_cpu(system_load& into, totals& now) noexcept;
    void take_own(double seconds, system_load& into, totals& now) noexcept;
    void take_memory(system_load& into) noexcept;
    void take_network(double seconds, system_load& into, totals& now) noexcept;
    void take_disks(double seconds, system_load& into, totals& now) noexcept;
    void take_pressure(double seconds, system_load& into, totals& now) noexcept;
    void take_sensors(system_load& into) noexcept;

    int descriptors_[files];
    int zones_[zones], clocks_[clocks];
    char* buffer_ = nullptr;
    core_time* cores_ = nullptr;  // at the previous sample
    totals before_{};
    double ticks_ = 100, page_ = 4096;  // clock ticks a second; bytes
    double sampled_at_ = 0;
    std::uint32_t missing_ = 0, had_ = 0;
    bool sampled_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/ext/system/proc_reader.ipp>
#endif
