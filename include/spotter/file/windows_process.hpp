// SPDX-License-Identifier: Apache-2.0
// File (L1): starts processes on Windows, and explains their exit codes.
#pragma once

#include <spotter/config.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// A system handle, which the destructor closes.
class windows_handle {
public:
    windows_handle() noexcept = default;
    explicit windows_handle(void* handle) noexcept : handle_{handle} {}
    windows_handle(windows_handle const&) = delete;
    windows_handle& operator=(windows_handle const&) = delete;
    ~windows_handle() { close(); }

    [[nodiscard]] void* get() const noexcept { return handle_; }  // null: none
    [[nodiscard]] void** put() noexcept { return &handle_; }      // for a call that makes one; must be empty
    [[nodiscard]] void* release() noexcept;                       // the caller must close it
    void close() noexcept;

private:
    void* handle_ = nullptr;
};

struct windows_start {
    wchar_t* line = nullptr;           // the command line, which Windows may overwrite
    wchar_t const* program = nullptr;  // null: the first word of the line, searched in PATH
    wchar_t* environment = nullptr;    // "NAME=value", each zero-terminated, and a final zero; null: inherited
    void* input = nullptr;             // these three may be null: no input, and the output is discarded
    void* output = nullptr;
    void* errors = nullptr;
    bool suspended = false;  // until the caller resumes its thread
};

// This process's standard output and so on (STD_OUTPUT_HANDLE); null if there is none.
[[nodiscard]] void* own_standard_handle(unsigned long which) noexcept;

// Starts a process in its own process group, so that Ctrl-C in this console does not reach it. Without a console here
// its own is hidden. It inherits only the three handles. Returns the error number, or 0.
[[nodiscard]] unsigned long start_process(windows_start const& asked, windows_handle& process,
                                          windows_handle& thread) noexcept;

// The meaning of an exit code that the system sets; empty if the program may have chosen it.
[[nodiscard]] std::string_view crash_of(unsigned long code) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/file/windows_process.ipp>
#endif
