// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): runs a training as attempts, each with a planned cure for the fault of the one before, until one is
// stable.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/hook/switch.hpp>
#include <spotter/supervise/supervised_attempt.hpp>
#include <spotter/supervise/verdict.hpp>

#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What to try after an attempt with this fault.
struct cure {
    std::string cause{};  // a glob for run_verdict::cause: a rule, "{exploding_gradient,non_finite}", "died", "*"
    std::string name{};   // "warm-up"
    std::vector<std::string> settings{};  // added to all further attempts: {"--warmup=200"}. Empty: the same again
};

// Options of a supervisor.
struct supervise_options {
    std::uint32_t attempts = 4;        // at most, including the first
    std::string folder = "runs/heal";  // the records go to folder/01, folder/02, …
};

// How a supervision ended.
enum class healed : std::uint8_t {
    stable,           // the last attempt finished, and no rule requested a stop
    no_cure_left,     // for the cause of the last attempt
    out_of_attempts,  // a cure is left, but the limit of attempts is reached
    cannot_start,     // the launcher could not start the program
    no_verdict,       // the record of the last attempt is unreadable, or does not show whether it was stable
    same_run,         // a launcher named the folder of an earlier attempt, whose record would be judged twice
    run_exists,       // the folder of an attempt already holds a run, which could pass for that of the attempt
    bad_plan,         // invalid limits or cures; nothing was started
};
[[nodiscard]] constexpr std::string_view name_of(healed how) noexcept {
    constexpr std::string_view names[] = {"stable",     "no_cure_left", "out_of_attempts", "cannot_start",
                                          "no_verdict", "same_run",     "run_exists",      "bad_plan"};
    return names[static_cast<std::size_t>(how)];
}

// The result of one attempt.
struct past_attempt {
    supervised_attempt asked{};  // what was requested
    launched launch{};           // what the launcher returned
    run_verdict verdict{};       // default where there is no verdict
    double seconds = 0;          // duration of the launcher's call
};

// The result of all attempts.
struct healing {
    healed how = healed::stable;           // how it ended
    std::string why{};                     // one sentence, if it is not stable
    std::vector<past_attempt> attempts{};  // all that were started, in order

    // The last attempt was stable.
    [[nodiscard]] bool stable() const noexcept { return how == healed::stable; }
};

namespace detail {

// The supervisor's state between two launches.
class supervision {
public:
    supervision(std::span<cure const> cures, supervise_options within);

    // Whether to make another attempt: `now()`.
    [[nodiscard]] bool goes_on() const noexcept { return !over_; }
    [[nodiscard]] supervised_attempt const& now() const noexcept { return now_; }
    void judge(launched launch, double seconds);
    [[nodiscard]] healing take() && { return std::move(outcome_); }

private:
    // What is wrong with the plan; empty if it is valid.
    [[nodiscard]] std::string trouble_in_plan() const;
    void prepare();
    void choose_cure();
    [[nodiscard]] bool was_run_before(std::string const& run) const;
    void end(healed how, std::string why);

    std::span<cure const> cures_;
    std::vector<bool> used_;
    supervise_options within_;
    supervised_attempt now_{};
    healing outcome_{};
    bool over_ = false;
};

}  // namespace detail

// Runs attempts until one is stable, no cure is left for the fault, or `within.attempts` were made.
// `launcher(supervised_attempt)` runs one to its end, on the calling thread, and returns the folder of its record, as
// text or as `launched`. It is a `child_process` or any function; one that throws has failed. Next it tries the first
// cure in the list that names the cause and was not tried yet, with its settings added to those of earlier cures. The
// same records lead to the same choices. Deletes nothing. `cures` must live as long as the call.
template <class Launch>
[[nodiscard]] healing supervise(Launch&& launcher, std::span<cure const> cures, supervise_options within = {}) {
    detail::supervision chain{cures, std::move(within)};
    while (chain.goes_on()) {
        supervised_attempt const& now = chain.now();
        double const began = detail::steady_seconds();
        launched launch = guarded_or([&]() -> launched { return launcher(now); },
                                     [&](std::string_view thrown) -> launched {
                                         return {now.run, departure::failed, "threw: " + std::string{thrown}};
                                     });
        chain.judge(std::move(launch), detail::steady_seconds() - began);
    }
    return std::move(chain).take();
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/supervise/supervise.ipp>
#endif
