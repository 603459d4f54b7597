// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): one attempt, as the supervisor asks for it and as the program that trains hears of it.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What the program that trains does with it:
//     auto const now = supervised_attempt::here();
//     hook watch{now ? now.run : "runs/a", keep, rules...};
//     now.note(watch);                                       // before the first step
struct supervised_attempt {
    std::uint32_t number = 0;             // from 1; 0: nobody supervises
    std::string run{};                    // the folder that its record is to go into; there is none in it yet
    std::string cure{};                   // the name of the one that it is made to try; empty in the first attempt
    std::string because{};                // what was wrong with the attempt before, in a sentence; empty in the first
    std::vector<std::string> settings{};  // of all cures so far, in the order in which these were chosen

    [[nodiscard]] explicit operator bool() const noexcept { return number > 0; }

    // The one that this process was started for, as `child_process` puts it into the environment: SPOTTER_ATTEMPT,
    // SPOTTER_ATTEMPT_RUN, SPOTTER_ATTEMPT_CURE, SPOTTER_ATTEMPT_BECAUSE. Its settings are arguments of the command
    // line, and not here.
    [[nodiscard]] static supervised_attempt here();
    // The four as "NAME=value".
    [[nodiscard]] std::vector<std::string> as_environment() const;

    // Records it, as `healing/attempt`, `healing/cure` and `healing/because`; nothing where nobody supervises. Called
    // before the first step the three are settings of the run: columns of the table that a report of all attempts
    // begins with.
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
