// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): an attempt as a process of its own, so that nothing that befalls it can hurt another.
#pragma once

#include <spotter/supervise/supervised_attempt.hpp>
#include <spotter/supervise/verdict.hpp>

#include <chrono>

namespace spotter::inline SPOTTER_ABI {

// A launcher for `supervise`: starts `command` with the settings of the attempt behind it, and waits for its end. A name without a slash is
// looked for in PATH. The process has our environment and supervised_attempt::as_environment(), our working folder, input and
// outputs, and every signal as a new process has it. A program that ignores SIGCHLD cannot wait
// for its children. POSIX: on Windows nothing is started, and the attempt says so (departure::never_started).
struct child_process {
    std::vector<std::string> command{};  // {"./train", "--seed=1"}
    std::chrono::milliseconds
        patience{};  // killed (SIGKILL, itself and not its children) when it takes longer; 0: no limit
    std::vector<std::string> environment{};  // further variables, "NAME=value", in place of ours of that name

    [[nodiscard]] launched operator()(supervised_attempt const& asked) const;

private:
    [[nodiscard]] static int spawn(std::vector<std::string> const& line, std::vector<std::string> const& told,
                                   int& child);
    // 0, or the errno of the wait.
    [[nodiscard]] int await(int child, int& status, bool& timed_out) const;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/supervise/child_process.ipp>
#endif
