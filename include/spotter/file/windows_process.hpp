// SPDX-License-Identifier: Apache-2.0
// File (L1): how a process is started on Windows, what it gets of ours, and what the code means that it ends with.
#pragma once

#include <spotter/config.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// A handle of the system's, closed at the end.
class windows_handle {
public:
    windows_handle() noexcept = default;
    explicit windows_handle(void* handle) noexcept : handle_{handle} {}
    windows_handle(windows_handle const&) = delete;
    windows_handle& operator=(windows_handle const&) = delete;
    ~windows_handle() { close(); }

    [[nodiscard]] void* get() const noexcept { return handle_; }  // null: none
    [[nodiscard]] void** put() noexcept { return &handle_; }      // for a call that makes one; there is none yet
    [[nodiscard]] void* release() noexcept;                       // the caller's, who closes it
    void close() noexcept;

private:
    void* handle_ = nullptr;
};

struct windows_start {
    wchar_t* line = nullptr;           // the command line; Windows writes into it
    wchar_t const* program = nullptr;  // null: the first word of the line, looked for in PATH
    wchar_t* environment = nullptr;    // "NAME=value", each with its zero, and one zero more; null: ours
    void* input = nullptr;  // these three may be null: the process finds nothing there, and what it writes goes nowhere
    void* output = nullptr;
    void* errors = nullptr;
    bool suspended = false;  // until its thread is resumed
};

// Our own standard output and so on (STD_OUTPUT_HANDLE), null where there is none.
[[nodiscard]] void* own_standard_handle(unsigned long which) noexcept;

// Starts it in a process group of its own, so that Ctrl-C at our console is none of its; where we have no console it
// gets none that is seen. Of our handles it has the three and no other. The error's number, or 0.
[[nodiscard]] unsigned long start_process(windows_start const& asked, windows_handle& process,
                                          windows_handle& thread) noexcept;

// What a code means that the system ends a process with; empty where a program may have chosen it.
[[nodiscard]] std::string_view crash_of(unsigned long code) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/file/windows_process.ipp>
#endif
