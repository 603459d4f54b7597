// SPDX-License-Identifier: Apache-2.0
// Windows, which has no fork: starts this executable as another process, for one hidden test case.
#pragma once

#include <spotter/file/windows_process.hpp>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <spotter/file/windows_api.hpp>

namespace spotter_test {

inline std::string this_program() {
    char path[4 * MAX_PATH]{};
    (void)::GetModuleFileNameA(nullptr, path, sizeof path - 1);
    return path;
}

// The environment variable with the caller's argument for the hidden test case.
inline constexpr char const* count_reported = "SPOTTER_TEST_TOLD";
inline std::string reported() {
    char const* const text = std::getenv(count_reported);
    return text != nullptr ? text : "";
}

// A process of this executable; the destructor terminates it, as the task manager does.
class this_program_again {
public:
    explicit this_program_again(std::string_view test, std::string const& reported = {}) {
        (void)::SetEnvironmentVariableA(count_reported, reported.c_str());
        std::string line = "\"" + this_program() + "\" \"" + std::string{test} + "\"";
        std::vector<wchar_t> letters(line.begin(), line.end());
        letters.push_back(L'\0');
        spotter::detail::windows_start asked{};
        asked.line = letters.data();
        spotter::detail::windows_handle thread;
        failed_ = spotter::detail::start_process(asked, process_, thread);
        (void)::SetEnvironmentVariableA(count_reported, nullptr);
    }
    this_program_again(this_program_again const&) = delete;
    this_program_again& operator=(this_program_again const&) = delete;
    ~this_program_again() { (void)kill(); }

    [[nodiscard]] bool started() const { return failed_ == 0; }
    // Waits; returns the exit code.
    unsigned long wait() {
        DWORD code = 0;
        (void)::WaitForSingleObject(process_.get(), INFINITE);
        (void)::GetExitCodeProcess(process_.get(), &code);
        return code;
    }
    unsigned long kill() {
        (void)::TerminateProcess(process_.get(), killed_with);
        return wait();
    }

    static constexpr unsigned long killed_with = 77;

private:
    spotter::detail::windows_handle process_;
    unsigned long failed_ = 0;
};

// Ends this process at once without cleanup, as a crash or the task manager does.
[[noreturn]] inline void die() {
    (void)::TerminateProcess(::GetCurrentProcess(), this_program_again::killed_with);
    std::abort();
}

}  // namespace spotter_test
