// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): one attempt, as the supervisor requests it and as the training program receives it.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Use in the training program:
//     auto const now = supervised_attempt::here();
//     hook watch{now ? now.run : "runs/a", keep, rules...};
//     now.note(watch);                                       // before the first step
struct supervised_attempt {
    std::uint32_t number = 0;             // from 1; 0: there is no supervisor
    std::string run{};                    // the folder for its record, which has no record yet
    std::string cure{};                   // the name of the cure that it tries; empty in the first attempt
    std::string because{};                // what was wrong with the attempt before, in one sentence; empty in the first
    std::vector<std::string> settings{};  // of all cures so far, in the order in which they were chosen

    [[nodiscard]] explicit operator bool() const noexcept { return number > 0; }

    // The attempt of this process, from the environment that `child_process` sets: SPOTTER_ATTEMPT,
    // SPOTTER_ATTEMPT_RUN, SPOTTER_ATTEMPT_CURE, SPOTTER_ATTEMPT_BECAUSE. Its settings are on the command line, and not
    // included.
    [[nodiscard]] static supervised_attempt here();
    // The four variables as "NAME=value".
    [[nodiscard]] std::vector<std::string> as_environment() const;

    // Records it, as `healing/attempt`, `healing/cure` and `healing/because`; does nothing without a supervisor. If
    // called before the first step, these are settings of the run, and columns of the table in a report of all
    // attempts.
    template <class Hook>
    void note(Hook& watch) const {
        if (number == 0) { return; }
        watch.scalar("healing/attempt", number);
        if (!cure.empty()) { watch.scalar("healing/cure", cure); }
        if (!because.empty()) { watch.scalar("healing/because", because); }
    }
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/supervise/supervised_attempt.ipp>
#endif
