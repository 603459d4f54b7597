// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): what the record of a run says of it: stable, or what was wrong.
#pragma once

#include <spotter/trial/trial.hpp>

#include <optional>
#include <string>

namespace spotter::inline SPOTTER_ABI {

// How a training was left by what ran it.
enum class departure : std::uint8_t {
    by_itself,      // it returned, or its process ended with 0
    failed,         // it threw, or its process ended with another number
    killed,         // by a signal; on Windows by the system, as for an access violation
    timed_out,      // by the launcher, as its time was up
    never_started,  // there was nothing to run
};

// What the record of an attempt says of it.
struct run_verdict {
    std::string cause{};  // the rule that was first to ask for a stop, heeded or not; "timed_out", "died", "failed";
                          // empty: stable
    std::string said{};   // in words, with line breaks
    step_id at{};         // where that rule fired; the first step where none did
    std::uint64_t closed_steps = 0;  // of any mode, of all workers together

    // Nothing asked for a stop, and it ended by itself.
    [[nodiscard]] bool stable() const noexcept { return cause.empty(); }
    // The first line of what was said.
    [[nodiscard]] std::string line() const { return said.substr(0, said.find('\n')); }
};

// What a launcher tells of an attempt.
struct launched {
    std::string run{};                     // the folder of its record
    departure how = departure::by_itself;  // how it was left
    std::string why{};                     // in words, where it was not left by itself: "ended with 3"
    std::optional<run_verdict> judged{};   // of a launcher that judged it from outside: the record is not asked then

    launched() = default;
    launched(std::string folder) : run{std::move(folder)} {}
    launched(std::string folder, departure left, std::string reason)
        : run{std::move(folder)}, how{left}, why{std::move(reason)} {}
};

// A finding that asked for a stop comes before how the training was left, and that before how the record ended. Stable
// is only a run that finished and was judged. errc: not_yet (the run goes on), no_more_data (no rule judged anything),
// corrupt (none asked for a stop in what can be read of the record, and not all of it can).
[[nodiscard]] result<run_verdict> verdict_of(trial const& run, launched const& told = {});

// The same where there is no record, or none that can be read: only for a training that was not left by itself.
[[nodiscard]] run_verdict verdict_of(launched const& told);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/supervise/verdict.ipp>
#endif
