// SPDX-License-Identifier: Apache-2.0
// Ext (L6): the source of the machine's samples, and their names for rules and readers.
#pragma once

#include <spotter/ext/system/load.hpp>

#include <spotter/core/result.hpp>
#include <spotter/core/text.hpp>

#include <cmath>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

struct system_options {  // how the machine is sampled
    double seconds = 1;  // between two samples
    bool pcie = false;   // also measure PCIe traffic: 40 ms for each GPU and sample, during which nothing is written
    // Called by the writer thread at each sample, after everything else: for values that only the program knows, such
    // as loader_workers, and for unsupported systems. It must call `learn` for the parts that it fills.
    void (*fill)(system_load& into, void* context) noexcept = nullptr;
    void* context = nullptr;
};

// Everything that can be read on this system: on Linux from /proc, /sys and NVIDIA's library, elsewhere only what
// `system_options::fill` fills. Use it in one thread at a time.
class system_source {
public:
    explicit system_source(system_options const& choices) noexcept : choices_{choices} {}
    system_source(system_source const&) = delete;
    system_source& operator=(system_source const&) = delete;
    ~system_source() { close(); }

    void open() noexcept;  // call it before the first sample
    void close() noexcept;
    // `now` is in seconds, of a monotonic clock.
    void sample(double now) noexcept;
    [[nodiscard]] system_load const& load() const noexcept { return load_; }  // the last sample
    // The parts that this system lacks, separated by commas; as of the last sample.
    [[nodiscard]] text<160> absent() const noexcept;
    // The first source that exists, or existed, and could not be read.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

private:
    struct readers;  // of this platform

    void look_for_trouble() noexcept;

    system_options choices_;
    readers* readers_ = nullptr;
    system_load load_{};
    error trouble_{};
};

// Calls use(name, value) for each known number of a sample, except those of single cores.
template <class Use>
void each_number(system_load const& it, Use&& use) {
    using part = system_load::part;
    auto const put = [&](part which, std::string_view name, auto value) {
        if (it.has(which)) { use(name, value); }
    };
    put(part::cpu, "sys/io_wait", it.io_wait);
    put(part::cpu, "sys/stolen", it.stolen);
    if (it.has(part::own_cpu) && it.cores > 0) { use("sys/own_cpu", it.own_cores / static_cast<float>(it.cores)); }
    if (it.has(part::own_cpu) && it.has(part::cpu)) { use("sys/other_cpu", it.taken()); }
    put(part::own_io, "sys/own_read", it.own_read);
    put(part::own_io, "sys/own_written", it.own_written);
    put(part::memory, "sys/memory", static_cast<float>(it.held / it.memory));
    put(part::memory, "sys/resident", it.resident);
    put(part::network, "sys/received", it.received);
    put(part::network, "sys/sent", it.sent);
    put(part::disk, "sys/disk_read", it.disk_read);
    put(part::disk, "sys/disk_written", it.disk_written);
    put(part::pressure_cpu, "sys/pressure/cpu", it.waits_cpu.some);
    put(part::pressure_memory, "sys/pressure/memory", it.waits_memory.some);
    put(part::pressure_memory, "sys/pressure/memory_full", it.waits_memory.full);
    put(part::pressure_io, "sys/pressure/io", it.waits_io.some);
    put(part::pressure_io, "sys/pressure/io_full", it.waits_io.full);
    put(part::temperature, "sys/temperature", it.temperature);
    put(part::clock, "sys/clock", it.clock);
    if (!std::isnan(it.loader_workers)) { use("sys/loader_workers", it.loader_workers); }
    for (std::size_t i = 0; it.has(part::gpu) && i < it.gpu_count && i < system_load::most_gpus; ++i) {
        auto const put_of = [&](char const* name, float value) {
            if (std::isnan(value)) { return; }
            text<40> whole{name};
            whole << i;
            use(whole.view(), value);
        };
        system_load::gpu const& gpu = it.gpus[i];
        put_of("sys/gpu_util/", gpu.busy);
        put_of("sys/gpu_mem/", gpu.memory);
        put_of("sys/gpu_power/", gpu.power);
        put_of("sys/gpu_temperature/", gpu.temperature);
        put_of("sys/gpu_slowed/", gpu.slowed);
        put_of("sys/gpu_received/", gpu.received);
        put_of("sys/gpu_sent/", gpu.sent);
    }
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#if defined(__linux__)
#include <spotter/ext/system/nvml_reader.hpp>
#include <spotter/ext/system/proc_reader.hpp>
#endif

#include <new>

namespace spotter::inline SPOTTER_ABI {

#if defined(__linux__)

struct system_source::readers {
    proc_reader files{};
    nvml_reader gpus{};
};

SPOTTER_BODY void system_source::open() noexcept {
    if (readers_ == nullptr) { readers_ = new (std::nothrow) readers; }
    if (readers_ == nullptr) { trouble_ = {errc::out_of_memory, "no memory to sample the machine"}; }
}

SPOTTER_BODY void system_source::close() noexcept {
    delete readers_;
    readers_ = nullptr;
}

SPOTTER_BODY void system_source::sample(double now) noexcept {
    load_.known = 0;
    if (readers_ != nullptr) {
        readers_->files.sample(now, load_);
        readers_->gpus.sample(choices_.pcie, load_);
        look_for_trouble();
    }
    if (choices_.fill != nullptr) { choices_.fill(load_, choices_.context); }
}

SPOTTER_BODY void system_source::look_for_trouble() noexcept {
    if (trouble_) { return; }
    trouble_ = readers_->gpus.trouble();
    std::uint32_t const lost = readers_->files.unreadable();
    if (trouble_ || lost == 0) { return; }
    trouble_.code = errc::io_error;
    for (std::size_t i = 0; i < system_load::parts; ++i) {
        if ((lost >> i & 1U) == 0) { continue; }
        trouble_.what << proc_reader::file_of(static_cast<system_load::part>(1U << i))
                      << " cannot be read, or not be understood; ";
        break;
    }
    trouble_.what << "what it says is not sampled";
}

#else

struct system_source::readers {};
SPOTTER_BODY void system_source::open() noexcept {}
SPOTTER_BODY void system_source::close() noexcept {}
SPOTTER_BODY void system_source::look_for_trouble() noexcept {}
SPOTTER_BODY void system_source::sample(double) noexcept {
    load_.known = 0;
    if (choices_.fill != nullptr) { choices_.fill(load_, choices_.context); }
}

#endif

SPOTTER_BODY text<160> system_source::absent() const noexcept {
    constexpr std::string_view names[system_load::parts] = {
        "cpu",          "own_cpu",         "own_io",      "memory",      "network", "disk",
        "pressure/cpu", "pressure/memory", "pressure/io", "temperature", "clock",   "gpu"};
    text<160> list;
    for (std::size_t i = 0; i < system_load::parts; ++i) {
        if (load_.has(static_cast<system_load::part>(1U << i))) { continue; }
        if (!list.view().empty()) { list << ", "; }
        list << names[i];
    }
    return list;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
