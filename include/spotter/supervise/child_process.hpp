// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): an attempt as a process of its own, so that nothing that befalls it can hurt another.
#pragma once

#include <spotter/supervise/supervised_attempt.hpp>
#include <spotter/supervise/verdict.hpp>

#include <chrono>

namespace spotter::inline SPOTTER_ABI {

// A launcher for `supervise`: starts `command` with the settings of the attempt behind it, and waits for its end. A
// name without a slash is looked for in PATH. The process has our environment and supervised_attempt::as_environment(),
// our working folder, input and outputs, and every signal as a new process has it. A program that ignores SIGCHLD
// cannot wait for its children.
//
// On Windows all that the process starts is in a job with it, and ends when it does, or when we do, however that
// happens. Its process group is its own: Ctrl-C at our console is for us, who take it along, and CTRL_BREAK_EVENT can
// be sent to it alone. A code that the system ends a process with (0xC0000005) is departure::killed. Text is UTF-8.
struct child_process {
    std::vector<std::string> command{};      // {"./train", "--seed=1"}
    std::chrono::milliseconds patience{};    // killed (SIGKILL, itself and not its children; Windows: the job) when it
                                             // takes longer; 0: no limit
    std::vector<std::string> environment{};  // further variables, "NAME=value", in place of ours of that name

    [[nodiscard]] launched operator()(supervised_attempt const& asked) const;

#if !defined(_WIN32)
private:
    [[nodiscard]] static int spawn(std::vector<std::string> const& line, std::vector<std::string> const& told,
                                   int& child);
    // 0, or the errno of the wait.
    [[nodiscard]] int await(int child, int& status, bool& timed_out) const;
#endif
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#if defined(_WIN32)
#include <spotter/supervise/child_process_windows.ipp>
#else
#include <spotter/supervise/child_process.ipp>
#endif
#endif
