// SPDX-License-Identifier: Apache-2.0
// Ext (L6): samples of what the machine does, out of /proc and /sys (Linux).
#pragma once

#include <spotter/ext/system/load.hpp>
#include <spotter/file/file_system.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Keeps its files open and reads them again at each sample: a system call each, no allocation. A file that is not
// there, is not readable, or says something else than it should leaves its part out. One thread at a time.
class proc_reader {
public:
    // `proc` and `sys` are where these are mounted.
    explicit proc_reader(std::string_view proc = "/proc", std::string_view sys = "/sys") noexcept;
    proc_reader(proc_reader const&) = delete;
    proc_reader& operator=(proc_reader const&) = delete;
    ~proc_reader();

    // What happened since the call before; at the first call only what needs none. `now` in seconds, of a clock that
    // does not jump.
    void sample(double now, system_load& into) noexcept;

    // Parts that the last sample lacks, as bits of system_load::part.
    [[nodiscard]] std::uint32_t missing() const noexcept { return missing_; }
    // Of these what this system has.
    [[nodiscard]] std::uint32_t unreadable() const noexcept { return missing_ & had_; }
    [[nodiscard]] static std::string_view file_of(system_load::part which) noexcept;  // that says it, for people

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

    // Ticks of a core, or of all of them.
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
    core_time* cores_ = nullptr;  // as they were before
    totals before_{};
    double ticks_ = 100, page_ = 4096;  // a second; bytes
    double sampled_at_ = 0;
    std::uint32_t missing_ = 0, had_ = 0;
    bool sampled_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/ext/system/proc_reader.ipp>
#endif
