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
#if defined(_WIN32)
#include <spotter/supervise/child_process_windows.ipp>
#else
#include <spotter/supervise/child_process.ipp>
#endif
#endif
