// SPDX-License-Identifier: Apache-2.0
// Ext (L6): samples of the machine's activity from /proc and /sys (Linux).
#pragma once

#include <spotter/ext/system/load.hpp>
#include <spotter/file/descriptor.hpp>
#include <spotter/file/file_system.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <new>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

// Reads words and numbers of a text, line by line. Never reads beyond its end.
class proc_text {
public:
    explicit proc_text(std::string_view text) noexcept : left_{text} {}

    [[nodiscard]] bool next_line(proc_text& line) noexcept {
        if (left_.empty()) { return false; }
        std::size_t const end = (std::min)(left_.find('\n'), left_.size());
        line = proc_text{left_.substr(0, end)};
        left_.remove_prefix((std::min)(end + 1, left_.size()));
        return true;
    }
    // Up to a blank, a colon, an equals sign or the end.
    [[nodiscard]] std::string_view word() noexcept {
        skip();
        std::size_t const end = (std::min)(left_.find_first_of(" \t:="), left_.size());
        std::string_view const found = left_.substr(0, end);
        left_.remove_prefix(end);
        return found;
    }
    [[nodiscard]] std::uint64_t number() noexcept {
        skip();
        std::uint64_t value = 0;
        for (; !left_.empty() && left_.front() >= '0' && left_.front() <= '9'; left_.remove_prefix(1)) {
            value = value * 10 + static_cast<std::uint64_t>(left_.front() - '0');
        }
        if (!left_.empty() && left_.front() == '.') {  // skips decimals
            (void)word();
        }
        return value;
    }
    void skip_words(std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) { (void)word(); }
    }
    [[nodiscard]] std::string_view rest() const noexcept { return left_; }
    void skip_to_last(char mark) noexcept {
        std::size_t const at = left_.rfind(mark);
        if (at != std::string_view::npos) { left_.remove_prefix(at + 1); }
    }

private:
    void skip() noexcept {
        std::size_t const at = (std::min)(left_.find_first_not_of(" \t:="), left_.size());
        left_.remove_prefix(at);
    }
    std::string_view left_;
};

// Opens the joined path; -1 where the file is missing or unreadable (see errno).
[[nodiscard]] inline int open_to_read(std::string_view folder, std::string_view name, std::string_view more = "",
                                      std::string_view last = "") noexcept {
    char path[1024];
    int const size =
        std::snprintf(path, sizeof path, "%.*s%.*s%.*s%.*s", static_cast<int>(folder.size()), folder.data(),
                      static_cast<int>(name.size()), name.data(), static_cast<int>(more.size()), more.data(),
                      static_cast<int>(last.size()), last.data());
    bool const fits = size > 0 && static_cast<std::size_t>(size) < sizeof path;
    if (!fits) { errno = ENOENT; }
    return fits ? open_above_streams(path, O_RDONLY) : -1;
}

// A counter that was reset counts as 0 growth.
[[nodiscard]] constexpr double grown(std::uint64_t now, std::uint64_t before) noexcept {
    return now > before ? static_cast<double>(now - before) : 0;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

// Keeps its files open and reads them again at each sample: one system call each, no allocation. If a file is missing,
// unreadable or malformed, its part is left out. Use it in one thread at a time.
class proc_reader {
public:
    // `proc` and `sys` are the mount points.
    explicit proc_reader(std::string_view proc = "/proc", std::string_view sys = "/sys") noexcept {
        std::fill(std::begin(descriptors_), std::end(descriptors_), -1);
        std::fill(std::begin(zones_), std::end(zones_), -1);
        std::fill(std::begin(clocks_), std::end(clocks_), -1);
        buffer_ = new (std::nothrow) char[buffer_bytes];
        cores_ = new (std::nothrow) core_time[system_load::most_cores]{};
        if (buffer_ == nullptr || cores_ == nullptr) { return; }
        if (long const each = ::sysconf(_SC_CLK_TCK); each > 0) { ticks_ = static_cast<double>(each); }
        if (long const each = ::sysconf(_SC_PAGESIZE); each > 0) { page_ = static_cast<double>(each); }
        using part = system_load::part;
        open(stat, part::cpu, proc, "/stat");
        open(own_stat, part::own_cpu, proc, "/self/stat");
        open(own_io, part::own_io, proc, "/self/io");
        open(own_memory, part::memory, proc, "/self/statm");
        open(memory, part::memory, proc, "/meminfo");
        open_limit(proc, sys);
        open(network, part::network, proc, "/net/dev");
        open(disks, part::disk, proc, "/diskstats");
        open(pressure_cpu, part::pressure_cpu, proc, "/pressure/cpu");
        open(pressure_memory, part::pressure_memory, proc, "/pressure/memory");
        open(pressure_io, part::pressure_io, proc, "/pressure/io");
        open_zones(sys);
    }

    proc_reader(proc_reader const&) = delete;
    proc_reader& operator=(proc_reader const&) = delete;

    ~proc_reader() {
        for (int const each : descriptors_) {
            if (each >= 0) { (void)::close(each); }
        }
        for (int const each : zones_) {
            if (each >= 0) { (void)::close(each); }
        }
        for (int const each : clocks_) {
            if (each >= 0) { (void)::close(each); }
        }
        delete[] buffer_;
        delete[] cores_;
    }

    // The activity since the previous call; the first call only has values that need none. `now` is in seconds, of a
    // monotonic clock.
    void sample(double now, system_load& into) noexcept {
        into.known = 0;
        missing_ = 0;
        if (buffer_ == nullptr || cores_ == nullptr) {
            missing_ = had_ = (1U << system_load::parts) - 1;
            return;
        }
        double const seconds = sampled_ && now > sampled_at_ ? now - sampled_at_ : 0;
        into.seconds = seconds;
        totals next{};
        take_cpu(into, next);
        take_own(seconds, into, next);
        take_memory(into);
        take_network(seconds, into, next);
        take_disks(seconds, into, next);
        take_pressure(seconds, into, next);
        take_sensors(into);
        before_ = next;
        sampled_at_ = now;
        sampled_ = true;
    }

    // Parts missing from the last sample, as bits of system_load::part.
    [[nodiscard]] std::uint32_t missing() const noexcept { return missing_; }
    // The missing parts that this system has provided before.
    [[nodiscard]] std::uint32_t unreadable() const noexcept { return missing_ & had_; }
    // The file of that part, for.
    [[nodiscard]] static std::string_view file_of(system_load::part which) noexcept {
        switch (which) {
            case system_load::part::cpu:
                return "/proc/stat";
            case system_load::part::own_cpu:
                return "/proc/self/stat";
            case system_load::part::own_io:
                return "/proc/self/io";
            case system_load::part::memory:
                return "/proc/self/statm";
            case system_load::part::network:
                return "/proc/net/dev";
            case system_load::part::disk:
                return "/proc/diskstats";
            case system_load::part::pressure_cpu:
                return "/proc/pressure/cpu";
            case system_load::part::pressure_memory:
                return "/proc/pressure/memory";
            case system_load::part::pressure_io:
                return "/proc/pressure/io";
            case system_load::part::temperature:
                return "/sys/class/thermal";
            case system_load::part::clock:
                return "/sys/devices/system/cpu/cpu0/cpufreq";
            case system_load::part::gpu:
                return "libnvidia-ml.so.1";
        }
        return {};
    }

    // Messages.

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

    void open(file which, system_load::part of, std::string_view folder, std::string_view name) noexcept {
        descriptors_[which] = detail::open_to_read(folder, name);
        if (descriptors_[which] >= 0 || errno != ENOENT) { had_ |= static_cast<std::uint32_t>(of); }
    }

    // The memory limit of this process's control group: version 2 has one tree; in version 1 it is the tree `memory`.
    void open_limit(std::string_view proc, std::string_view sys) noexcept {
        int const groups = detail::open_to_read(proc, "/self/cgroup");
        detail::proc_text lines{read(groups)}, line{{}};
        while (lines.next_line(line)) {  // 4:memory:/a/group
            std::string_view const text = line.rest();
            std::size_t const first = text.find(':'),
                              second = first == text.npos ? text.npos : text.find(':', first + 1);
            if (second == text.npos) { continue; }
            std::string_view const trees = text.substr(first + 1, second - first - 1);
            std::string_view const group =
                text.substr(second + 1) == "/" ? std::string_view{} : text.substr(second + 1);
            if (!trees.empty() && trees != "memory") { continue; }
            std::string_view const tree = trees.empty() ? "/fs/cgroup" : "/fs/cgroup/memory";
            std::string_view const limit = trees.empty() ? "/memory.max" : "/memory.limit_in_bytes";
            int found = detail::open_to_read(sys, tree, group, limit);
            // In a container its own group is the root of the tree.
            if (found < 0) { found = detail::open_to_read(sys, tree, limit); }
            if (found < 0) { continue; }
            if (int const before = std::exchange(descriptors_[group_memory], found); before >= 0) {
                (void)::close(before);
            }
        }
        if (groups >= 0) { (void)::close(groups); }
    }

    void open_zones(std::string_view sys) noexcept {
        char name[80];
        for (std::size_t i = 0; i < zones; ++i) {
            (void)std::snprintf(name, sizeof name, "/class/thermal/thermal_zone%zu/temp", i);
            zones_[i] = detail::open_to_read(sys, name);
        }
        for (std::size_t i = 0; i < clocks; ++i) {
            (void)std::snprintf(name, sizeof name, "/devices/system/cpu/cpu%zu/cpufreq/scaling_cur_freq", i);
            clocks_[i] = detail::open_to_read(sys, name);
        }
    }

    [[nodiscard]] std::string_view read(int descriptor) noexcept {
        if (descriptor < 0) { return {}; }
        ssize_t const got = ::pread(descriptor, buffer_, buffer_bytes, 0);
        return got > 0 ? std::string_view{buffer_, static_cast<std::size_t>(got)} : std::string_view{};
    }

    [[nodiscard]] std::string_view read(file which) noexcept { return read(descriptors_[which]); }
    void lack(system_load::part which) noexcept { missing_ |= static_cast<std::uint32_t>(which); }

    void take_cpu(system_load& into, totals& now) noexcept {
        std::string_view const text = read(stat);
        if (text.empty()) { return lack(system_load::part::cpu); }
        detail::proc_text lines{text}, line{{}};
        into.cores = 0;
        while (lines.next_line(line)) {
            std::string_view const name = line.word();
            if (!name.starts_with("cpu")) { break; }
            std::uint64_t each[8]{};  // user, nice, system, idle, iowait, irq, softirq, steal
            for (std::uint64_t& value : each) { value = line.number(); }
            core_time const it{each[0] + each[1] + each[2] + each[5] + each[6] + each[7], each[3] + each[4], each[4],
                               each[7]};
            if (name.size() == 3) {
                now.all = it;
            } else if (into.cores < system_load::most_cores) {
                core_time& before = cores_[into.cores];
                double const busy = detail::grown(it.busy, before.busy), idle = detail::grown(it.idle, before.idle);
                into.cpu[into.cores++] = busy + idle > 0 ? static_cast<float>(busy / (busy + idle)) : 0.0F;
                before = it;
            }
        }
        if (into.cores == 0) { return lack(system_load::part::cpu); }
        double const all =
            detail::grown(now.all.busy, before_.all.busy) + detail::grown(now.all.idle, before_.all.idle);
        if (!sampled_ || !(all > 0)) { return; }
        into.busy = static_cast<float>(detail::grown(now.all.busy, before_.all.busy) / all);
        into.io_wait = static_cast<float>(detail::grown(now.all.io_wait, before_.all.io_wait) / all);
        into.stolen = static_cast<float>(detail::grown(now.all.stolen, before_.all.stolen) / all);
        into.learn(system_load::part::cpu);
    }

    void take_own(double seconds, system_load& into, totals& now) noexcept {
        std::string_view text = read(own_stat);
        if (text.rfind(')') == text.npos) {
            lack(system_load::part::own_cpu);
        } else {
            detail::proc_text words{text};
            words.skip_to_last(')');  // the program's name, which may contain blanks and brackets
            words.skip_words(11);
            now.own_ticks = words.number();
            now.own_ticks += words.number();
            if (seconds > 0) {
                into.own_cores = static_cast<float>(detail::grown(now.own_ticks, before_.own_ticks) / ticks_ / seconds);
                into.learn(system_load::part::own_cpu);
            }
        }
        text = read(own_io);
        if (text.empty()) { return lack(system_load::part::own_io); }
        detail::proc_text lines{text}, line{{}};
        while (lines.next_line(line)) {
            std::string_view const name = line.word();
            if (name == "read_bytes") { now.own_read = line.number(); }
            if (name == "write_bytes") { now.own_written = line.number(); }
        }
        if (!(seconds > 0)) { return; }
        into.own_read = detail::grown(now.own_read, before_.own_read) / seconds;
        into.own_written = detail::grown(now.own_written, before_.own_written) / seconds;
        into.learn(system_load::part::own_io);
    }

    void take_memory(system_load& into) noexcept {
        std::string_view text = read(own_memory);
        detail::proc_text words{text};
        (void)words.word();
        std::uint64_t const resident = words.number(), of_files = words.number();
        into.resident = page_ * static_cast<double>(resident);
        into.held = page_ * detail::grown(resident, of_files);
        bool const known = into.resident > 0;
        into.memory = 0;
        text = read(memory);
        detail::proc_text lines{text}, line{{}};
        while (lines.next_line(line)) {
            if (line.word() == "MemTotal") {
                into.memory = 1024 * static_cast<double>(line.number());
                break;
            }
        }
        text = read(group_memory);
        if (!text.empty() && text.front() >= '0' && text.front() <= '9') {
            double const limit = static_cast<double>(detail::proc_text{text}.number());
            if (into.memory == 0 || limit < into.memory) { into.memory = limit; }
        }
        if (!known || !(into.memory > 0)) { return lack(system_load::part::memory); }
        into.learn(system_load::part::memory);
    }

    void take_network(double seconds, system_load& into, totals& now) noexcept {
        std::string_view const text = read(network);
        if (text.empty()) { return lack(system_load::part::network); }
        detail::proc_text lines{text}, line{{}};
        for (std::size_t i = 0; lines.next_line(line); ++i) {
            std::string_view const name = line.word();
            if (i < 2 || name == "lo") { continue; }  // two header lines
            now.received += line.number();
            line.skip_words(7);
            now.sent += line.number();
        }
        if (!(seconds > 0)) { return; }
        into.received = detail::grown(now.received, before_.received) / seconds;
        into.sent = detail::grown(now.sent, before_.sent) / seconds;
        into.learn(system_load::part::network);
    }

    void take_disks(double seconds, system_load& into, totals& now) noexcept {
        std::string_view const text = read(disks);
        if (text.empty()) { return lack(system_load::part::disk); }
        constexpr std::uint64_t sector = 512;
        detail::proc_text lines{text}, line{{}};
        while (lines.next_line(line)) {
            (void)line.number();
            std::uint64_t const minor = line.number();
            std::string_view const name = line.word();
            // Whole disks only: partitions and stacked devices would count twice.
            bool const loop = name.starts_with("loop") || name.starts_with("ram") || name.starts_with("dm-") ||
                              name.starts_with("md");
            bool const partition = minor % 16 != 0 && !name.starts_with("nvme") && !name.starts_with("mmcblk");
            bool const numbered =
                (name.starts_with("nvme") || name.starts_with("mmcblk")) && name.find('p') != std::string_view::npos;
            if (loop || partition || numbered) { continue; }
            line.skip_words(2);
            now.disk_read += sector * line.number();
            line.skip_words(3);
            now.disk_written += sector * line.number();
        }
        if (!(seconds > 0)) { return; }
        into.disk_read = detail::grown(now.disk_read, before_.disk_read) / seconds;
        into.disk_written = detail::grown(now.disk_written, before_.disk_written) / seconds;
        into.learn(system_load::part::disk);
    }

    void take_pressure(double seconds, system_load& into, totals& now) noexcept {
        constexpr file from[] = {pressure_cpu, pressure_memory, pressure_io};
        constexpr system_load::part parts[] = {system_load::part::pressure_cpu, system_load::part::pressure_memory,
                                               system_load::part::pressure_io};
        system_load::pressure* const to[] = {&into.waits_cpu, &into.waits_memory, &into.waits_io};
        for (std::size_t i = 0; i < 3; ++i) {
            std::string_view const text = read(from[i]);
            if (text.empty()) {
                lack(parts[i]);
                continue;
            }
            detail::proc_text lines{text}, line{{}};
            while (lines.next_line(line)) {
                bool const full = line.word() == "full";
                for (std::string_view name = line.word(); !name.empty(); name = line.word()) {
                    std::uint64_t const value = line.number();
                    if (name == "total") { (full ? now.full : now.some)[i] = value; }
                }
            }
            if (!(seconds > 0)) { continue; }
            auto const share = [&](std::uint64_t after, std::uint64_t before) {
                return static_cast<float>((std::min)(1.0, 1e-6 * detail::grown(after, before) / seconds));
            };
            *to[i] = {share(now.some[i], before_.some[i]), share(now.full[i], before_.full[i])};
            into.learn(parts[i]);
        }
    }

    void take_sensors(system_load& into) noexcept {
        float hottest = -300;
        for (int const each : zones_) {
            std::string_view const text = read(each);
            bool const below = text.starts_with('-');
            if (text.empty()) { continue; }
            float const degrees = static_cast<float>(detail::proc_text{text.substr(below ? 1 : 0)}.number()) / 1000.0F;
            hottest = (std::max)(hottest, below ? -degrees : degrees);
        }
        if (hottest > -300) {
            into.temperature = hottest;
            into.learn(system_load::part::temperature);
        } else {
            lack(system_load::part::temperature);
        }
        double all = 0;
        std::size_t count = 0;
        for (int const each : clocks_) {
            std::string_view const text = read(each);
            if (text.empty()) { continue; }
            all += 1e3 * static_cast<double>(detail::proc_text{text}.number());
            ++count;
        }
        if (count == 0) { return lack(system_load::part::clock); }
        into.clock = static_cast<float>(all / static_cast<double>(count));
        into.learn(system_load::part::clock);
    }

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
