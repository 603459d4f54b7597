// SPDX-License-Identifier: Apache-2.0
// Response (L5): a command of the shell, with the finding as JSON on its standard input.
#pragma once

#include <spotter/response/finding_json.hpp>

#include <cerrno>
#include <cstring>

#if !defined(_WIN32)
extern "C" char** environ;
#endif

namespace spotter::inline SPOTTER_ABI {

// `on(rule, run_command{"./alert.sh"} )`: `/bin/sh` runs it beside the loop, which does not wait for its end; the loop
// pays for starting a process, some milliseconds, so let the rule be thinned (`| rearm{10}`). It is nobody's child.
// What it ends with is asked for at the closes that follow and told in health if it is not 0; what it writes to
// standard error goes nowhere (`./alert.sh 2>>alert.log` keeps it). It begins with every signal as a new process has
// it. The command must outlive the hook; a literal does. On Windows the shell is cmd.exe, the command one line of
// UTF-8, and Ctrl-C at the program's console is none of its.
struct run_command {
    using responds = void;
    static constexpr std::string_view name = "run_command";
    std::string_view command;  // for the shell; not owned

    error operator()(finding const& found, response_desk& desk) const noexcept;
    // Nobody asks how it ends.
    error operator()(finding const& found, finding_origin const& from = {}) const noexcept;
    // Starts it. From `status` its exit status can be read, as digits, once it has ended; to be closed by whoever
    // called. On Windows it is the process's handle.
    error start(finding const& found, finding_origin const& from, int& status) const noexcept;

private:
    static constexpr std::size_t longest = 4095;  // bytes
    [[nodiscard]] error unfit() const noexcept;
    static bool has_ended(pending_response const& it, bool last, error& why) noexcept;

#if defined(_WIN32)
    static void tell(unsigned long code, std::string_view command_line, error& why) noexcept;
    [[nodiscard]] error refused(std::string_view what, unsigned long why) const noexcept;
#else
    static constexpr int for_input = 3, for_status = 4;  // the descriptors by which the script below knows the pipes

    // Both closed at the end, and above those of the script: duplicated to itself, a descriptor stays closed to the
    // command before glibc 2.29.
    struct pipe_ends {
        int read = -1, write = -1;

        pipe_ends() noexcept = default;
        pipe_ends(pipe_ends const&) = delete;
        pipe_ends& operator=(pipe_ends const&) = delete;
        ~pipe_ends();
        [[nodiscard]] int open(int reading) noexcept;
    };

    [[nodiscard]] static int spawn(char const* command_line, int input, int status) noexcept;

    // An outcome: the digits, or none where a shell was killed before it could write them.
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
