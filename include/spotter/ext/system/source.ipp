// SPDX-License-Identifier: Apache-2.0
// The bodies of source.hpp.
#pragma once

#include <spotter/ext/system/source.hpp>

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
