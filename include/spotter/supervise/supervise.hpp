// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): a training as attempts, each with the planned cure of what was wrong with the one before, until one
// is stable.
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

// What to try next when an attempt was wrong in this way.
struct cure {
    std::string cause{};  // a glob over run_verdict::cause: a rule, "{exploding_gradient,non_finite}", "died", "*"
    std::string name{};   // "warm-up"
    std::vector<std::string>
        settings{};  // what it adds to the attempts from then on: {"--warmup=200"}. None: the same again
};

// What may be said of a supervisor.
struct supervise_options {
    std::uint32_t attempts = 4;        // at most, the first one included
    std::string folder = "runs/heal";  // the records go to folder/01, folder/02, …
};

// How a supervision ended.
enum class healed : std::uint8_t {
    stable,           // the last attempt finished, and no rule asked for a stop
    no_cure_left,     // for the cause that the last attempt had
    out_of_attempts,  // a cure is left, but no attempt
    cannot_start,     // the launcher could not start anything
    no_verdict,       // the record of the last attempt cannot be read, or does not say whether it was stable
    same_run,         // a launcher named the folder of an earlier attempt: its record would be judged twice
    run_exists,       // the folder of an attempt holds a run already, which could pass for that of the attempt
    bad_plan,         // limits or cures that make no sense; nothing was started
};
[[nodiscard]] constexpr std::string_view name_of(healed how) noexcept {
    constexpr std::string_view names[] = {"stable",     "no_cure_left", "out_of_attempts", "cannot_start",
                                          "no_verdict", "same_run",     "run_exists",      "bad_plan"};
    return names[static_cast<std::size_t>(how)];
}

// What came of an attempt.
struct past_attempt {
    supervised_attempt asked{};  // what it was told to be
    launched told{};             // by the launcher
    run_verdict verdict{};       // of nothing where there was none to be had
    double seconds = 0;          // that the launcher took
};

// What came of all of them.
struct healing {
    healed how = healed::stable;           // how it ended
    std::string why{};                     // in a sentence, where it is not stable
    std::vector<past_attempt> attempts{};  // in order; all that were started

    // The last attempt was.
    [[nodiscard]] bool stable() const noexcept { return how == healed::stable; }
};

namespace detail {

// The supervision between two launches.
class supervision {
public:
    supervision(std::span<cure const> cures, supervise_options within);

    // Whether an attempt is to be made now: `now()`.
    [[nodiscard]] bool goes_on() const noexcept { return !over_; }
    [[nodiscard]] supervised_attempt const& now() const noexcept { return now_; }
    void judge(launched told, double seconds);
    [[nodiscard]] healing take() && { return std::move(told_); }

private:
    // Empty where the plan makes sense.
    [[nodiscard]] std::string trouble_in_plan() const;
    void prepare();
    void choose_cure();
    [[nodiscard]] bool was_run_before(std::string const& run) const;
    void end(healed how, std::string why);

    std::span<cure const> cures_;
    std::vector<bool> used_;
    supervise_options within_;
    supervised_attempt now_{};
    healing told_{};
    bool over_ = false;
};

}  // namespace detail

// Runs attempts until one is stable, no cure is left for what is wrong, or `within.attempts` were made.
// `launch(supervised_attempt)` runs one to its end, on the calling thread, and returns the folder of its record, as
// text or as `launched`: `child_process`, or any function. One that throws has failed. The first cure of the list that
// names the cause and was not tried yet is tried next; its settings are added to those of the cures before. The same
// records lead to the same choices. Deletes nothing. `cures` must live as long as the call.
template <class Launch>
[[nodiscard]] healing supervise(Launch&& launch, std::span<cure const> cures, supervise_options within = {}) {
    detail::supervision chain{cures, std::move(within)};
    while (chain.goes_on()) {
        supervised_attempt const& now = chain.now();
        double const began = detail::steady_seconds();
        launched told = guarded_or([&]() -> launched { return launch(now); },
                                   [&](std::string_view thrown) -> launched {
                                       return {now.run, departure::failed, "threw: " + std::string{thrown}};
                                   });
        chain.judge(std::move(told), detail::steady_seconds() - began);
    }
    return std::move(chain).take();
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/supervise/supervise.ipp>
#endif
