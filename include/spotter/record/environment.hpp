// SPDX-License-Identifier: Apache-2.0
// Record (L4): the environment of a program for its record: build and machine.
#pragma once

#include <spotter/config.hpp>
#include <spotter/core/event.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/rows.hpp>

#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// Appends `row` to `into`, with the library's version, the plan's collections and the program's environment; `packs`
// names the rule packs that judge it. If memory is exhausted, into.failed() is true.
void encode_run_begin(rows::run_begin row, std::span<collection_info const> collections, std::string_view packs,
                      byte_buffer& into) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

// Lines of "key value": compiler, flags, target (the instruction set that it was compiled for), processor, cores,
// memory, system, threads (environment variables about them). Determined once in a process; a few hundred bytes.
// Unknown lines are missing. With spotter::compiled the first three describe the compiled library.
[[nodiscard]] std::string_view environment_of_program() noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/text.hpp>
#include <spotter/format/encode.hpp>
#include <spotter/version.hpp>

#include <cstdlib>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY void encode_run_begin(rows::run_begin row, std::span<collection_info const> collections,
                                        std::string_view packs, byte_buffer& into) noexcept {
    byte_buffer list;
    std::size_t bound = 0;
    for (collection_info const& each : collections) {
        bound += each.name.size() + each.what.view().size() + 2 * varint_limit;
    }
    byte_writer each_out{list.prepare(bound), list.failed() ? 0 : bound};
    for (collection_info const& each : collections) { encode(each_out, rows::collection{each.name, each.what.view()}); }
    row.collections = list.failed() ? 0 : collections.size();
    row.list = each_out.view();

    text<32> version{};
    version << SPOTTER_VERSION_MAJOR << '.' << SPOTTER_VERSION_MINOR << '.' << SPOTTER_VERSION_PATCH;
    row.version = version;
    text<900> environment;
    environment << environment_of_program();
    if (!packs.empty()) { environment << "\npacks " << packs; }
    row.environment = environment.view();

    std::size_t const room = bound + 128 + row.environment.size();
    byte_writer out{into.prepare(room), into.failed() ? 0 : room};
    encode(out, row);
    into.grow_by(out.view().size());
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#if defined(_WIN32)
#include <spotter/file/windows_api.hpp>
#else
#include <spotter/file/descriptor.hpp>

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>
#endif

namespace spotter::inline SPOTTER_ABI {

namespace detail {

using environment_text = text<800>;

SPOTTER_COLD_BODY void tell_build(environment_text& out) noexcept {
#if defined(__clang__)
    out << "compiler clang " << __clang_major__ << '.' << __clang_minor__ << '.' << __clang_patchlevel__;
#elif defined(__GNUC__)
    out << "compiler gcc " << __GNUC__ << '.' << __GNUC_MINOR__ << '.' << __GNUC_PATCHLEVEL__;
#endif
    out << "\nflags";
#if defined(__OPTIMIZE__)
    out << " optimised";
#else
    out << " not-optimised";
#endif
#if defined(__FAST_MATH__)
    out << " fast-math";
#endif
#if defined(NDEBUG)
    out << " no-assertions";
#endif
#if defined(__SANITIZE_ADDRESS__)
    out << " address-sanitizer";
#endif
#if defined(__SANITIZE_THREAD__)
    out << " thread-sanitizer";
#endif
    out << (SPOTTER_EXCEPTIONS ? "" : " no-exceptions");
    out << "\ntarget";
#if defined(__x86_64__)
    out << " x86-64";
#elif defined(__aarch64__)
    out << " aarch64";
#elif defined(__i386__)
    out << " x86-32";
#endif
#if defined(__SSE4_2__)
    out << " sse4.2";
#endif
#if defined(__AVX__)
    out << " avx";
#endif
#if defined(__AVX2__)
    out << " avx2";
#endif
#if defined(__FMA__)
    out << " fma";
#endif
#if defined(__AVX512F__)
    out << " avx512f";
#endif
}

#if defined(_WIN32)

SPOTTER_COLD_BODY void tell_machine(environment_text& out) noexcept {
    char processor[80];
    unsigned long const size = ::GetEnvironmentVariableA("PROCESSOR_IDENTIFIER", processor, sizeof processor);
    if (size > 0 && size < sizeof processor) { out << "\nprocessor " << std::string_view{processor, size}; }
    SYSTEM_INFO facts{};
    ::GetNativeSystemInfo(&facts);
    out << "\ncores " << facts.dwNumberOfProcessors;
    MEMORYSTATUSEX memory{};
    memory.dwLength = sizeof memory;
    if (::GlobalMemoryStatusEx(&memory) != 0) { out << "\nmemory " << memory.ullTotalPhys / 1048576 << " MiB"; }
    out << "\nsystem Windows";
}

#else

// The model of the first processor in Linux's list.
SPOTTER_COLD_BODY void tell_processor(environment_text& out) noexcept {
    int const file = open_above_streams("/proc/cpuinfo", O_RDONLY);
    if (file < 0) { return; }
    char letters[2048];
    ssize_t const size = ::read(file, letters, sizeof letters);
    (void)::close(file);
    std::string_view const all{letters, size > 0 ? static_cast<std::size_t>(size) : 0};
    std::size_t const at = all.find("model name"), colon = all.find(": ", at);
    if (at == all.npos || colon == all.npos) { return; }
    out << "\nprocessor " << all.substr(colon + 2, all.find('\n', colon) - colon - 2).substr(0, 80);
}

SPOTTER_COLD_BODY void tell_machine(environment_text& out) noexcept {
    tell_processor(out);
    if (long const cores = ::sysconf(_SC_NPROCESSORS_ONLN); cores > 0) { out << "\ncores " << cores; }
    long const pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) {
        out << "\nmemory " << static_cast<std::uint64_t>(pages) / 1024 * static_cast<std::uint64_t>(page) / 1024
            << " MiB";
    }
    if (utsname name{}; ::uname(&name) == 0) {
        out << "\nsystem " << name.sysname << ' ' << std::string_view{name.release}.substr(0, 40) << ' '
            << name.machine;
    }
}

#endif

SPOTTER_COLD_BODY void tell_threads(environment_text& out) noexcept {
    bool first = true;
    for (char const* const each : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_PROC_BIND"}) {
        char const* const value = std::getenv(each);
        if (value == nullptr || *value == '\0') { continue; }
        out << (first ? "\nthreads " : " ") << each << '=' << std::string_view{value}.substr(0, 24);
        first = false;
    }
}

}  // namespace detail

SPOTTER_COLD_BODY std::string_view environment_of_program() noexcept {
    static detail::environment_text const environment = [] {
        detail::environment_text out;
        detail::tell_build(out);
        detail::tell_machine(out);
        detail::tell_threads(out);
        return out;
    }();
    return environment.view();
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
