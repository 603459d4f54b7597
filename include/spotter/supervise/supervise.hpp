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
#include <spotter/core/pattern.hpp>

#include <filesystem>
#include <system_error>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY supervision::supervision(std::span<cure const> cures, supervise_options within)
    : cures_{cures}, used_(cures.size()), within_{std::move(within)} {
    if (std::string why = trouble_in_plan(); !why.empty()) {
        end(healed::bad_plan, std::move(why));
    } else {
        prepare();
    }
}

SPOTTER_BODY std::string supervision::trouble_in_plan() const {
    if (within_.attempts == 0) { return "supervise_options::attempts is 0: nothing would ever be run"; }
    if (within_.folder.empty()) { return "supervise_options::folder is empty: say where the records are to go"; }
    for (std::size_t i = 0; i < cures_.size(); ++i) {
        cure const& it = cures_[i];
        if (it.name.empty()) { return "the cure for \"" + it.cause + "\" has no name"; }
        if (it.cause.empty()) { return "the cure \"" + it.name + "\" has no cause; \"*\" is any"; }
        if (!glob{std::string_view{it.cause}}.well_formed()) {
            return "the cause of the cure \"" + it.name + "\" is no glob: " + it.cause;
        }
        for (std::size_t k = 0; k < i; ++k) {
            bool const twice = cures_[k].name == it.name && cures_[k].cause == it.cause && !it.settings.empty();
            if (twice) { return "the cure \"" + it.name + "\" is there twice for \"" + it.cause + "\""; }
        }
    }
    return {};
}

SPOTTER_BODY void supervision::end(healed how, std::string why) {
    outcome_.how = how;
    outcome_.why = std::move(why);
    over_ = true;
}

SPOTTER_BODY void supervision::prepare() {
    ++now_.number;
    std::string const digits = std::to_string(now_.number);
    now_.run = within_.folder + (digits.size() < 2 ? "/0" : "/") + digits;
    result<trial> const there = open_trial(now_.run);
    if (there) {
        end(healed::run_exists, now_.run + " holds a run already: name another folder, or move that away");
    } else if (there.error().code != errc::not_a_run) {
        end(healed::run_exists, now_.run + " is no place for a run: " + std::string{there.error().what.view()});
    }
}

SPOTTER_BODY bool supervision::was_run_before(std::string const& run) const {
    for (past_attempt const& each : outcome_.attempts) {
        std::error_code no_such_file;
        if (each.launch.run == run || std::filesystem::equivalent(each.launch.run, run, no_such_file)) { return true; }
    }
    return false;
}

SPOTTER_BODY void supervision::judge(launched launch, double seconds) {
    if (launch.how == departure::never_started) { return end(healed::cannot_start, std::move(launch.why)); }
    bool const before = was_run_before(launch.run);
    outcome_.attempts.push_back({now_, std::move(launch), {}, seconds});
    past_attempt& it = outcome_.attempts.back();
    if (before) { return end(healed::same_run, it.launch.run + " is the record of an earlier attempt"); }

    if (it.launch.judged) {
        it.verdict = *it.launch.judged;
        return it.verdict.stable() ? end(healed::stable, {}) : choose_cure();
    }
    result<trial> const run = open_trial(it.launch.run);
    if (!run && it.launch.how == departure::by_itself) {
        return end(healed::no_verdict, it.launch.run + ": " + std::string{run.error().what.view()});
    }
    result<run_verdict> verdict = run ? verdict_of(*run, it.launch) : result<run_verdict>{verdict_of(it.launch)};
    if (!verdict) { return end(healed::no_verdict, it.launch.run + ": " + std::string{verdict.error().what.view()}); }
    it.verdict = std::move(*verdict);
    if (it.verdict.stable()) { return end(healed::stable, {}); }
    choose_cure();
}

SPOTTER_BODY void supervision::choose_cure() {
    run_verdict const& last = outcome_.attempts.back().verdict;
    std::size_t which = 0;
    while (which < cures_.size() && (used_[which] || !glob{std::string_view{cures_[which].cause}}(last.cause))) {
        ++which;
    }
    if (which == cures_.size()) { return end(healed::no_cure_left, "no cure is left for " + last.line()); }
    cure const& next = cures_[which];
    if (now_.number == within_.attempts) {
        return end(healed::out_of_attempts, "the cure \"" + next.name + "\" was not tried any more for " + last.line());
    }
    used_[which] = true;
    now_.cure = next.name;
    now_.because = last.line();
    now_.before = outcome_.attempts.back().launch.run;
    now_.settings.insert(now_.settings.end(), next.settings.begin(), next.settings.end());
    prepare();
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
