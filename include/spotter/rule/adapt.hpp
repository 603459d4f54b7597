// SPDX-License-Identifier: Apache-2.0
// Rule (L2): adaptors: `rule | adaptor` is again a rule. Undecided closes change nothing in any of them. In one table:
//   for_steps{n}   yes once the rule held at n decided closes of the same mode in a row
//   cooldown{n}    after a yes, silent for n - 1 further decided closes of that mode
//   rearm{n}       one yes an episode; an episode ends after n decided closes of that mode in a row without it
//   once           one yes a run
//   only{policy}   the rule sees only steps of the policy: no other observation and no other close
//   named{"..."}   the name in its findings
//   severity::x    the severity of its findings
//   on(rule, r)    the decision that its findings request: proceed, skip_update or stop; or a response (respond.hpp)
#pragma once

#include <spotter/rule/compound.hpp>
#include <spotter/rule/report_episode.hpp>

namespace spotter::inline SPOTTER_ABI {

// What may follow `|`: a value that turns a rule's answers into its own, or hides steps from the rule.
template <class Value>
concept adaptor = requires { typename Value::adapts_rules; };

// A rule with an adaptor applied, which is again a rule.
template <rule Inner, adaptor Adaptor>
struct adapted {
    using kind = rule_kind;
    Inner inner;      // the rule that is adapted
    Adaptor adaptor;  // the adaptor that is applied to it
};

// An adaptor has a `state` and turns the inner rule's answer into its own:
//     constexpr truth operator()(state&, step_id, truth answer, std::span<finding> found) const noexcept;
// It may edit the findings; the machine removes them unless the answer is yes. An adaptor with `admits(step)` hides
// steps from the rule. One with `thins_delivery` may answer no while the rule still holds. Such a rule still counts as
// unhealthy. Every other adaptor therefore has a second state: with it, and without findings, the machine asks what the
// adaptor would answer if nothing inside were thinned. An adaptor that sets severities has
//     constexpr severity severity_of_unreported(severity) const noexcept;
// A response has, for the findings that the inner rule pushed from index `first` on,
//     constexpr void respond(state&, findings& out, std::size_t first) const noexcept;
template <class Inner, class Adaptor>
class machine<adapted<Inner, Adaptor>> {
public:
    constexpr explicit machine(adapted<Inner, Adaptor> const& rule) noexcept
        : inner_{rule.inner}, adaptor_{rule.adaptor} {}

    constexpr tensor_needs declare(tensor_info const& tensor) { return inner_.declare(tensor); }
    constexpr void observe(observation const& it) {
        if (admits(it.step)) { inner_.observe(it); }
    }
    constexpr truth close(step_id step, findings& out) {
        if (!admits(step)) { return truth::undecided; }
        std::size_t const start = out.size();
        truth answer = inner_.close(step, out);
        findings::unreported held = out.held();
        truth holds = held.any() ? truth::yes : answer;  // if nothing were thinned
        if (decided(answer)) {
            answer = adaptor_(state_, step, answer, std::span<finding>{out.begin() + start, out.size() - start});
            if constexpr (requires { adaptor_.respond(state_, out, start); }) { adaptor_.respond(state_, out, start); }
        }
        bool const look = holds == truth::yes;
        if constexpr (!requires { Adaptor::thins_delivery; }) {
            if (decided(holds)) { holds = adaptor_(unthinned_, step, holds, std::span<finding>{}); }
        }
        if (look) {
            if (answer != truth::yes) {
                for (std::size_t i = start; i < out.size(); ++i) { held.join(out[i].severity); }
            }
            if constexpr (requires { adaptor_.severity_of_unreported(held.severity()); }) {
                if (held.any()) { held.set(adaptor_.severity_of_unreported(held.severity())); }
            }
            out.hold(holds == truth::yes ? held : findings::unreported{});
        }
        if (answer != truth::yes) { out.truncate(start); }
        return answer;
    }
    [[nodiscard]] constexpr bool due(step_id step) const { return admits(step) && inner_.due(step); }
    static constexpr bool polls = machine<Inner>::polls, reads_times = machine<Inner>::reads_times;
    constexpr void poll(double const& now) { inner_.poll(now); }
    template <class Use>
    constexpr void report(Use&& use) const {
        inner_.report([&](coverage each) {
            if constexpr (requires { std::string_view{adaptor_.name}; }) { each.rule = adaptor_.name; }
            use(each);
        });
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return inner_.malformed(); }

private:
    [[nodiscard]] constexpr bool admits([[maybe_unused]] step_id step) const {
        if constexpr (requires { adaptor_.admits(step); }) {
            return adaptor_.admits(step);
        } else {
            return true;
        }
    }

    machine<Inner> inner_;
    Adaptor adaptor_;
    [[no_unique_address]] typename Adaptor::state state_{};
    [[no_unique_address]] typename Adaptor::state unthinned_{};
};

template <rule Inner, adaptor Adaptor>
[[nodiscard]] constexpr adapted<Inner, Adaptor> operator|(Inner inner, Adaptor adaptor) noexcept {
    return {inner, adaptor};
}

namespace detail {
struct no_state {};
struct count_per_mode {
    std::uint64_t count[mode_count]{};
};
}  // namespace detail

// `rule | for_steps{3}`: yes from the third consecutive close of a mode at which the rule holds. Undecided closes do
// not count and do not break the sequence.
struct for_steps {
    using adapts_rules = void;
    using state = detail::count_per_mode;
    std::uint64_t steps = 1;  // closes of one mode; 0 acts as 1
    constexpr truth operator()(state& streak, step_id step, truth answer, std::span<finding>) const noexcept {
        std::uint64_t& count = streak.count[index_of(step.mode)];
        count = answer == truth::yes ? count + 1 : 0;
        return truth_of(count > 0 && count >= steps);
    }
};

// `rule | cooldown{100}`: reported at most once in a hundred closes of a mode. Undecided closes do not count.
struct cooldown {
    using adapts_rules = void;
    static constexpr bool thins_delivery = true;  // may answer no while the rule still holds
    using state = detail::episode_per_mode;
    std::uint64_t steps = 1;  // closes of one mode; 0 and 1 suppress nothing
    constexpr truth operator()(state& it, step_id step, truth answer, std::span<finding>) const noexcept {
        it.of(step).pass(steps);
        return answer == truth::yes ? truth_of(it.of(step).report()) : answer;
    }
};

// `rule | rearm{10}`: an episode is reported once. It ends when the rule has said no at ten closes of a mode in a row.
struct rearm {
    using adapts_rules = void;
    static constexpr bool thins_delivery = true;  // may answer no while the rule still holds
    using state = detail::episode_per_mode;
    std::uint64_t steps = 1;  // consecutive closes of one mode at which the rule says no
    constexpr truth operator()(state& it, step_id step, truth answer, std::span<finding>) const noexcept {
        if (answer != truth::yes) { return it.of(step).pass(steps), answer; }
        it.of(step).restart();
        return truth_of(it.of(step).report());
    }
};

// `rule | once`: reported once in a run, whatever the mode.
struct once_adaptor {
    using adapts_rules = void;
    static constexpr bool thins_delivery = true;  // may answer no while the rule still holds
    using state = detail::report_episode;
    constexpr truth operator()(state& it, step_id, truth answer, std::span<finding>) const noexcept {
        return answer == truth::yes ? truth_of(it.report()) : answer;
    }
};
// The only value of its type.
inline constexpr once_adaptor once{};

// The rule sees only the steps that `policy` admits. `policy` is any predicate on a step: a plan's policy, or a
// callable.
template <class Policy>
struct only {
    using adapts_rules = void;
    using state = detail::no_state;
    Policy policy;  // called at each close and observation
    // Whether the rule sees this step.
    [[nodiscard]] constexpr bool admits(step_id step) const { return policy(step); }
    constexpr truth operator()(state&, step_id, truth answer, std::span<finding>) const noexcept { return answer; }
};
template <class Policy>
only(Policy) -> only<Policy>;

// `rule | named{"critic is dying"}`: the name in its findings.
struct named {
    using adapts_rules = void;
    using state = detail::no_state;
    std::string_view name;  // must outlive the rule's findings; a literal does
    constexpr truth operator()(state&, step_id, truth answer, std::span<finding> found) const noexcept {
        for (finding& each : found) { each.rule = name; }
        return answer;
    }
};

// `rule | severity::error`: the severity of its findings.
struct with_severity {
    using adapts_rules = void;
    using state = detail::no_state;
    severity level;  // replaces the rule's own
    // The severity of a finding that an inner adaptor held back.
    [[nodiscard]] constexpr severity severity_of_unreported(severity) const noexcept { return level; }
    constexpr truth operator()(state&, step_id, truth answer, std::span<finding> found) const noexcept {
        for (finding& each : found) { each.severity = level; }
        return answer;
    }
};
template <rule Inner>
[[nodiscard]] constexpr adapted<Inner, with_severity> operator|(Inner inner, severity level) noexcept {
    return {inner, {level}};
}

// `on(rule, stop)`: the decision that its findings request.
struct with_decision {
    using adapts_rules = void;
    using state = detail::no_state;
    decision what;
    constexpr truth operator()(state&, step_id, truth answer, std::span<finding> found) const noexcept {
        for (finding& each : found) { each.decision = what, each.decision_is_set = true; }
        return answer;
    }
};
// Apply the update: `on(rule, proceed)` only reports.
inline constexpr decision proceed = decision::proceed;
// Skip this update.
inline constexpr decision skip_update = decision::skip_update;
// End the run.
inline constexpr decision stop = decision::stop;

// Sets the decision that a finding of `rule` requests of the loop. By default it follows from the severity (error:
// stop, non-finite: skip_update, else proceed).
template <rule Inner>
[[nodiscard]] constexpr adapted<Inner, with_decision> on(Inner rule, decision what) noexcept {
    return {rule, {what}};
}

}  // namespace spotter::inline SPOTTER_ABI
