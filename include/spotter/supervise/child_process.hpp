// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): runs each attempt in a separate process, so that its failure cannot affect others.
#pragma once

#include <spotter/supervise/supervised_attempt.hpp>
#include <spotter/supervise/verdict.hpp>

#include <chrono>

namespace spotter::inline SPOTTER_ABI {

// A launcher for `supervise`: starts `command` with the settings of the attempt appended, and waits for its end. A name
// without a slash is searched in PATH. The process gets our environment and supervised_attempt::as_environment(), our
// working folder, input and outputs, and default signal handling. A program that ignores SIGCHLD cannot wait for its
// children.
//
// On Windows everything that the process starts is in a job with it. The job ends when the process ends, or when we do,
// for whatever reason. The process has a process group of its own: Ctrl-C at our console reaches only us, and we end
// the process too; CTRL_BREAK_EVENT can be sent to it alone. An exit code from the system (0xC0000005) is
// departure::killed. Text is UTF-8.
struct child_process {
    std::vector<std::string> command{};      // {"./train", "--seed=1"}
    std::chrono::milliseconds patience{};    // time limit, after which the process is killed (SIGKILL, without its
                                             // children; on Windows the job); 0: none
    std::vector<std::string> environment{};  // further variables, "NAME=value", which replace ours

    [[nodiscard]] launched operator()(supervised_attempt const& asked) const;

#if !defined(_WIN32)
private:
    [[nodiscard]] static int spawn(std::vector<std::string> const& line, std::vector<std::string> const& overrides,
                                   int& child);
    // Returns 0, or the errno of the wait.
    [[nodiscard]] int await(int child, int& status, bool& timed_out) const;
#endif
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/deadline.hpp>

#include <algorithm>

#if defined(_WIN32)
#include <spotter/file/windows_api.hpp>
#include <spotter/file/windows_error.hpp>
#include <spotter/file/windows_process.hpp>

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
    auto const end = deadline_in(patience);
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
#else
#include <spotter/core/casts.hpp>
#include <spotter/core/clock.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ;

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY launched child_process::operator()(supervised_attempt const& asked) const {
    if (command.empty() || command.front().empty()) {
        return {asked.run, departure::never_started, "the command is empty: name the program that trains"};
    }
    std::vector<std::string> line = command;
    line.insert(line.end(), asked.settings.begin(), asked.settings.end());
    int child = 0, status = 0;
    bool timed_out = false;
    std::vector<std::string> overrides = asked.as_environment();
    overrides.insert(overrides.end(), environment.begin(), environment.end());
    if (int const why = spawn(line, overrides, child); why != 0) {
        return {asked.run, departure::never_started, "could not start \"" + line.front() + "\": " + std::strerror(why)};
    }
    if (int const why = await(child, status, timed_out); why != 0) {
        return {asked.run, departure::failed, std::string{"how it ended is not known: "} + std::strerror(why)};
    }
    if (timed_out) {
        return {asked.run, departure::timed_out, "killed after " + std::to_string(patience.count()) + " ms"};
    }
    if (WIFSIGNALED(status)) {
        return {asked.run, departure::killed, "killed by signal " + std::to_string(WTERMSIG(status))};
    }
    if (WEXITSTATUS(status) != 0) {
        return {asked.run, departure::failed, "ended with " + std::to_string(WEXITSTATUS(status))};
    }
    return {asked.run};
}

SPOTTER_BODY int child_process::spawn(std::vector<std::string> const& line, std::vector<std::string> const& overrides,
                                      int& child) {
    std::vector<char*> arguments, variables;
    for (std::string const& each : line) { arguments.push_back(const_cast<char*>(each.c_str())); }
    arguments.push_back(nullptr);
    for (std::string const& each : overrides) { variables.push_back(const_cast<char*>(each.c_str())); }
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        std::string_view const name{*each, std::strcspn(*each, "=")};
        bool const is_overridden = std::any_of(overrides.begin(), overrides.end(), [&](std::string const& other) {
            return other.size() > name.size() && other.compare(0, name.size(), name) == 0 && other[name.size()] == '=';
        });
        if (!is_overridden && name != "SPOTTER_RUN") {
            variables.push_back(*each);
        }  // a parent's SPOTTER_RUN is for one
           // record only
    }
    variables.push_back(nullptr);

    posix_spawnattr_t attributes;
    int why = ::posix_spawnattr_init(&attributes);
    if (why != 0) { return why; }
    sigset_t none, all;
    (void)::sigemptyset(&none);
    (void)::sigfillset(&all);
    (void)::sigdelset(&all, SIGKILL);
    (void)::sigdelset(&all, SIGSTOP);
    why = ::posix_spawnattr_setsigmask(&attributes, &none);
    if (why == 0) { why = ::posix_spawnattr_setsigdefault(&attributes, &all); }
    if (why == 0) { why = ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF); }
    pid_t started = 0;
    if (why == 0) {
        why = ::posix_spawnp(&started, arguments[0], nullptr, &attributes, arguments.data(), variables.data());
    }
    ::posix_spawnattr_destroy(&attributes);
    child = started;
    return why;
}

SPOTTER_BODY int child_process::await(int child, int& status, bool& timed_out) const {
    auto const end = detail::deadline_in(patience);
    bool const limited = patience.count() > 0;
    for (;;) {
        pid_t const ended = ::waitpid(child, &status, limited && !timed_out ? WNOHANG : 0);
        if (ended == child) {
            timed_out = timed_out && WIFSIGNALED(status);  // it may have ended by itself just before
            return 0;
        }
        if (ended < 0 && errno != EINTR) { return errno; }
        if (!limited || timed_out) { continue; }
        if (std::chrono::steady_clock::now() >= end) {
            timed_out = true;
            (void)::kill(child, SIGKILL);
            continue;
        }
        detail::nap(5000);
    }
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
#endif
