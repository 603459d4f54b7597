// SPDX-License-Identifier: Apache-2.0
// Response (L5): runs a shell command, with the finding as JSON on its standard input.
#pragma once

#include <spotter/response/finding_json.hpp>

#include <cerrno>
#include <cstring>

#if !defined(_WIN32)
extern "C" char** environ;
#endif

namespace spotter::inline SPOTTER_ABI {

// `on(rule, run_command{"./alert.sh"})`: `/bin/sh` runs the command beside the loop, which does not wait for it.
// Starting a process takes some milliseconds, so thin the rule (`| rearm{10}`). The command is not a child of this
// process. Its exit status is read at later closes, and reported in health if it is not 0. Its standard error is
// discarded (`./alert.sh 2>>alert.log` keeps it). It starts with the default signal handling of a new process. The
// command text must outlive the hook; a literal does. On Windows the shell is cmd.exe, the command is one line of
// UTF-8, and Ctrl-C at the program's console does not reach it.
struct run_command {
    using responds = void;
    static constexpr std::string_view name = "run_command";
    std::string_view command;  // for the shell; not owned

    error operator()(finding const& found, response_desk& desk) const noexcept;
    // Ignores the exit status.
    error operator()(finding const& found, finding_origin const& from = {}) const noexcept;
    // Starts the command. Once it has ended, its exit status can be read from `status`, as digits; the caller closes
    // it. On Windows `status` is the process's handle.
    error start(finding const& found, finding_origin const& from, int& status) const noexcept;

private:
    static constexpr std::size_t longest = 4095;  // bytes
    [[nodiscard]] error unfit() const noexcept;
    static bool has_ended(pending_response const& it, bool last, error& why) noexcept;

#if defined(_WIN32)
    static void tell(unsigned long code, std::string_view command_line, error& why) noexcept;
    [[nodiscard]] error refused(std::string_view what, unsigned long why) const noexcept;
#else
    static constexpr int for_input = 3, for_status = 4;  // the descriptors of the pipes in the script below

    // Both ends are closed at the end, and are above the script's descriptors: before glibc 2.29 a descriptor that is
    // duplicated to itself stays closed in the command.
    struct pipe_ends {
        int read = -1, write = -1;

        pipe_ends() noexcept = default;
        pipe_ends(pipe_ends const&) = delete;
        pipe_ends& operator=(pipe_ends const&) = delete;
        ~pipe_ends();
        [[nodiscard]] int open(int reading) noexcept;
    };

    [[nodiscard]] static int spawn(char const* command_line, int input, int status) noexcept;

    // Reports an exit status: its digits, or none where the shell was killed before it could write them.
    static void tell(std::string_view digits, std::string_view command_line, error& why) noexcept;
    [[nodiscard]] error refused(std::string_view what, int why) const noexcept;
#endif
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/response/run_command.ipp>
#if defined(_WIN32)
#include <spotter/response/run_command_windows.ipp>
#endif
#endif
