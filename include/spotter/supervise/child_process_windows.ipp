// SPDX-License-Identifier: Apache-2.0
// The bodies of child_process.hpp for Windows.
#pragma once

#include <spotter/file/windows_api.hpp>
#include <spotter/file/windows_error.hpp>
#include <spotter/file/windows_process.hpp>
#include <spotter/supervise/child_process.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Converts UTF-8 to UTF-16; invalid bytes become U+FFFD.
[[nodiscard]] SPOTTER_BODY std::wstring widened(std::string_view text) {
    std::wstring wide(text.size(), L'\0');
    int const size = static_cast<int>(text.size());
    wide.resize(static_cast<std::size_t>(
        size == 0 ? 0 : ::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, wide.data(), size)));
    return wide;
}

// Appends an argument so that the program receives it unchanged (CommandLineToArgvW's rules): backslashes before a
// quote are doubled.
SPOTTER_BODY void put_argument(std::wstring& line, std::wstring_view argument) {
    if (!line.empty()) { line += L' '; }
    line += L'"';
    std::size_t backslashes = 0;
    for (wchar_t const each : argument) {
        if (each == L'"') { line.append(backslashes + 1, L'\\'); }
        backslashes = each == L'\\' ? backslashes + 1 : 0;
        line += each;
    }
    line.append(backslashes, L'\\');
    line += L'"';
}

[[nodiscard]] SPOTTER_BODY std::wstring_view name_of_variable(std::wstring_view variable) {
    return variable.substr(0, variable.find(L'=', 1));  // those of drives begin with "=": "=C:=C:\somewhere"
}
// Names are compared without case.
[[nodiscard]] SPOTTER_BODY int compare_names(std::wstring_view one, std::wstring_view other) {
    std::wstring_view const a = name_of_variable(one), b = name_of_variable(other);
    return ::CompareStringOrdinal(a.data(), static_cast<int>(a.size()), b.data(), static_cast<int>(b.size()), TRUE) -
           CSTR_EQUAL;
}

// Our environment with `overrides`, which replace variables of the same names; sorted by name, as Windows requires.
[[nodiscard]] SPOTTER_BODY std::wstring environment_with(std::vector<std::string> const& overrides) {
    std::vector<std::wstring> variables;
    auto const add = [&](std::wstring_view one) {
        auto const same = std::find_if(variables.begin(), variables.end(),
                                       [&](std::wstring const& other) { return compare_names(one, other) == 0; });
        if (same == variables.end()) { variables.emplace_back(one); }
    };
    for (std::string const& each : overrides) { add(widened(each)); }
    wchar_t* const ours = ::GetEnvironmentStringsW();
    for (wchar_t const* each = ours; each != nullptr && *each != L'\0'; each += std::wstring_view{each}.size() + 1) {
        if (compare_names(each, L"SPOTTER_RUN=") != 0) { add(each); }  // a parent's SPOTTER_RUN is for one record only
    }
    if (ours != nullptr) { (void)::FreeEnvironmentStringsW(ours); }
    std::sort(variables.begin(), variables.end(),
              [](std::wstring const& one, std::wstring const& other) { return compare_names(one, other) < 0; });
    std::wstring block;
    for (std::wstring const& each : variables) { block.append(each).push_back(L'\0'); }
    block.push_back(L'\0');
    return block;
}

// A job that ends its processes when its last handle is closed, which is ours.
[[nodiscard]] SPOTTER_BODY unsigned long make_job(windows_handle& job) {
    *job.put() = ::CreateJobObjectW(nullptr, nullptr);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    bool const good = job.get() != nullptr && ::SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation,
                                                                        &limits, sizeof limits) != 0;
    return good ? 0 : ::GetLastError();
}

inline constexpr unsigned long out_of_patience = 0x53504F54;  // an exit code that no program uses by chance

// Returns the number of an error, or 0; `code` is the exit code.
[[nodiscard]] SPOTTER_BODY unsigned long await_process(void* process, void* job, std::chrono::milliseconds patience,
                                                       unsigned long& code) {
    auto const end = std::chrono::steady_clock::now() + patience;
    bool limited = patience.count() > 0;
    for (;;) {
        auto const left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count() + 1;
        constexpr long long most = 3'600'000;
        unsigned long const wait = limited ? static_cast<unsigned long>(std::clamp(left, 0LL, most)) : INFINITE;
        unsigned long const what = ::WaitForSingleObject(process, wait);
        if (what == WAIT_OBJECT_0) { return ::GetExitCodeProcess(process, &code) != 0 ? 0 : ::GetLastError(); }
        if (what != WAIT_TIMEOUT) { return ::GetLastError(); }
        if (std::chrono::steady_clock::now() < end) { continue; }
        (void)::TerminateJobObject(job, out_of_patience);
        limited = false;
    }
}

}  // namespace detail

SPOTTER_BODY launched child_process::operator()(supervised_attempt const& asked) const {
    if (command.empty() || command.front().empty()) {
        return {asked.run, departure::never_started, "the command is empty: name the program that trains"};
    }
    std::wstring line;
    for (std::string const& each : command) { detail::put_argument(line, detail::widened(each)); }
    for (std::string const& each : asked.settings) { detail::put_argument(line, detail::widened(each)); }
    std::vector<std::string> overrides = asked.as_environment();
    overrides.insert(overrides.end(), environment.begin(), environment.end());
    std::wstring variables = detail::environment_with(overrides);

    detail::windows_handle job, process, thread;
    detail::windows_start start{};
    start.line = line.data(), start.environment = variables.data();
    start.input = detail::own_standard_handle(STD_INPUT_HANDLE);
    start.output = detail::own_standard_handle(STD_OUTPUT_HANDLE);
    start.errors = detail::own_standard_handle(STD_ERROR_HANDLE);
    start.suspended = true;  // so that it is in the job before it can start anything
    unsigned long failed = detail::make_job(job);
    if (failed == 0) { failed = detail::start_process(start, process, thread); }
    if (failed == 0 && ::AssignProcessToJobObject(job.get(), process.get()) == 0) {
        failed = ::GetLastError();
        (void)::TerminateProcess(process.get(), 1);
    }
    if (failed != 0) {
        return {asked.run, departure::never_started,
                std::string{detail::windows_error(failed, "start", command.front()).what.view()}};
    }
    (void)::ResumeThread(thread.get());

    unsigned long code = 0;
    failed = detail::await_process(process.get(), job.get(), patience, code);
    if (failed != 0) {
        return {asked.run, departure::failed,
                "how it ended is not known: error " + std::to_string(failed) + " of Windows"};
    }
    if (code == detail::out_of_patience) {
        return {asked.run, departure::timed_out, "killed after " + std::to_string(patience.count()) + " ms"};
    }
    std::string_view const crash = detail::crash_of(code);
    if (!crash.empty()) { return {asked.run, departure::killed, "crashed: " + std::string{crash}}; }
    if (code != 0) {
        return {asked.run, departure::failed, "ended with " + std::to_string(static_cast<std::int32_t>(code))};
    }
    return {asked.run};
}

}  // namespace spotter::inline SPOTTER_ABI
