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
#include <spotter/file/windows_api.hpp>

#include <cstddef>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void* windows_handle::release() noexcept { return std::exchange(handle_, nullptr); }

SPOTTER_BODY void windows_handle::close() noexcept {
    if (handle_ != nullptr) { (void)::CloseHandle(std::exchange(handle_, nullptr)); }
}

SPOTTER_BODY void* own_standard_handle(unsigned long which) noexcept {
    HANDLE const handle = ::GetStdHandle(which);
    return handle == INVALID_HANDLE_VALUE ? nullptr : handle;
}

// An inheritable duplicate of a handle, or of NUL. It exists only during the start; but another thread that starts a
// process meanwhile with all handles inherited passes it on, too.
[[nodiscard]] SPOTTER_BODY unsigned long inheritable(void* handle, windows_handle& made) noexcept {
    if (handle != nullptr) {
        HANDLE const own = ::GetCurrentProcess();
        bool const good = ::DuplicateHandle(own, handle, own, made.put(), 0, TRUE, DUPLICATE_SAME_ACCESS) != 0;
        return good ? 0 : ::GetLastError();
    }
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    HANDLE const nothing = ::CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                         &inherited, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (nothing == INVALID_HANDLE_VALUE) { return ::GetLastError(); }
    *made.put() = nothing;
    return 0;
}

SPOTTER_BODY unsigned long start_process(windows_start const& asked, windows_handle& process,
                                         windows_handle& thread) noexcept {
    windows_handle input, output, errors;
    unsigned long failed = inheritable(asked.input, input);
    if (failed == 0) { failed = inheritable(asked.output, output); }
    if (failed == 0) { failed = inheritable(asked.errors, errors); }
    if (failed != 0) { return failed; }
    HANDLE given[] = {input.get(), output.get(), errors.get()};

    alignas(std::max_align_t) std::byte room[256];  // Windows takes 48 for one attribute
    auto* const attributes = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(room);
    SIZE_T size = sizeof room;
    if (::InitializeProcThreadAttributeList(attributes, 1, 0, &size) == 0) { return ::GetLastError(); }
    if (::UpdateProcThreadAttribute(attributes, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, given, sizeof given, nullptr,
                                    nullptr) == 0) {
        failed = ::GetLastError();
    }
    STARTUPINFOEXW how{};
    how.StartupInfo.cb = sizeof how;
    how.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    how.StartupInfo.hStdInput = given[0], how.StartupInfo.hStdOutput = given[1], how.StartupInfo.hStdError = given[2];
    how.lpAttributeList = attributes;
    unsigned long flags = EXTENDED_STARTUPINFO_PRESENT | CREATE_UNICODE_ENVIRONMENT | CREATE_NEW_PROCESS_GROUP;
    if (asked.suspended) { flags |= CREATE_SUSPENDED; }
    if (::GetConsoleCP() == 0) { flags |= CREATE_NO_WINDOW; }
    PROCESS_INFORMATION made{};
    if (failed == 0 && ::CreateProcessW(asked.program, asked.line, nullptr, nullptr, TRUE, flags, asked.environment,
                                        nullptr, &how.StartupInfo, &made) == 0) {
        failed = ::GetLastError();
    }
    ::DeleteProcThreadAttributeList(attributes);
    if (failed == 0) { *process.put() = made.hProcess, *thread.put() = made.hThread; }
    return failed;
}

struct crash_meaning {
    unsigned long code;
    std::string_view what;
};
inline constexpr crash_meaning crash_meanings[] = {
    {0xC0000005, "0xC0000005, an access violation"},
    {0xC0000006, "0xC0000006, a page that could not be read"},
    {0xC0000017, "0xC0000017, no memory"},
    {0xC000001D, "0xC000001D, an instruction that this processor does not have"},
    {0xC0000025, "0xC0000025, an exception that nothing goes on behind"},
    {0xC0000094, "0xC0000094, a division of integers by zero"},
    {0xC0000096, "0xC0000096, an instruction that needs more rights"},
    {0xC00000FD, "0xC00000FD, a stack that is full"},
    {0xC0000135, "0xC0000135, a library (DLL) that was not found"},
    {0xC0000139, "0xC0000139, a function that is missing in a library (DLL)"},
    {0xC000013A, "0xC000013A, Ctrl-C, or the end of its console"},
    {0xC0000142, "0xC0000142, a library (DLL) that could not begin"},
    {0xC0000374, "0xC0000374, a damaged heap"},
    {0xC0000409, "0xC0000409, a check of its own: a damaged stack, or abort()"},
    {0x80000002, "0x80000002, misaligned data"},
    {0x80000003, "0x80000003, a breakpoint"},
    {0xE06D7363, "0xE06D7363, an exception of C++ that nobody caught"},
    {0x20474343, "0x20474343, an exception of C++ that nobody caught"},  // g++'s
};

SPOTTER_BODY std::string_view crash_of(unsigned long code) noexcept {
    for (crash_meaning const& each : crash_meanings) {
        if (each.code == code) { return each.what; }
    }
    return code >= 0xC0000000 && code < 0xD0000000 ? "an error of the system's" : std::string_view{};
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
