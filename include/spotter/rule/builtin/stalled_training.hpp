// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a loop that closes no step for a long time. docs/rules.md#stalled_training
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

// A rule has no clock: its caller passes the time to `poll(state, now)`, in seconds on a clock that does not go back. A
// hook and a replay do so before and after every close. For the rule a close happened at the first poll after it;
// before the first close it counts from the first poll. Error when more than `threshold` seconds have passed since
// then. The close that ends the stall reports it, and requests no decision, since the loop goes on. To detect a stall
// while it lasts, call `close` and `poll` yourself, on a state of your own and from one thread at a time: `poll` says
// yes once for each stall.
struct stalled_training {
    using kind = rule_kind;
    static constexpr std::string_view name = "stalled_training";
    static constexpr std::string_view remedy = "Inspect the input pipeline and collectives; no step has been closed.";

    double threshold = 1800;  // seconds; AWS StalledTrainingRule

    [[nodiscard]] static constexpr stalled_training sagemaker_defaults() noexcept { return {}; }

    struct state {
        bool started = false;   // there was a poll
        bool closed = false;    // since the last poll
        bool reported = false;  // this stall was reported by `poll`
        double since = 0;       // seconds, on the caller's clock
        double longest = 0;     // seconds without a close, as of the last poll
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const&) const noexcept { return stats_mask::none; }
    constexpr void observe(state&, observation const&) const noexcept {}
    // A step ended, so training is not stalled any more.
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        seen.closed = true;
        if (!std::exchange(seen.reported, false)) { return truth::no; }
        finding it = violation{.measured = seen.longest, .count = 1}.as_finding(
            "seconds without a step", relation::greater, threshold, severity::error);
        it.reason = "no step was closed";
        it.decision = decision::proceed;
        it.decision_is_set = true;
        out.push(it);
        return truth::yes;
    }
    // Yes at the first poll of a stall. A time that is not finite decides nothing; one that goes back restarts the
    // count.
    constexpr truth poll(state& seen, double const& now_seconds) const noexcept {
        if (!is_finite(now_seconds)) { return truth::undecided; }
        bool const first = !std::exchange(seen.started, true), closed = std::exchange(seen.closed, false);
        if (first || closed || now_seconds < seen.since) {
            seen.since = now_seconds;
            return truth::undecided;
        }
        seen.longest = now_seconds - seen.since;
        return truth_of(seen.longest > threshold && !std::exchange(seen.reported, true));
    }
};

}  // namespace spotter::inline SPOTTER_ABI
