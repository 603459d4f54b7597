// SPDX-License-Identifier: Apache-2.0
// Judge (L2): runs a list of rules. A hook and a replay share it, so that both judge in the same way.
#pragma once

#include <spotter/core/content_reader.hpp>
#include <spotter/core/failures.hpp>
#include <spotter/core/guard.hpp>
#include <spotter/core/pack.hpp>
#include <spotter/core/result.hpp>
#include <spotter/judge/alarm_experiment.hpp>
#include <spotter/judge/step_findings.hpp>
#include <spotter/rule/adapt.hpp>
#include <spotter/rule/quantify.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The place of an argument that is not a rule (options); does nothing.
struct no_machine {
    template <class Any>
    constexpr explicit no_machine(Any const&) noexcept {}
    static constexpr bool polls = false, reads_times = false;
};
template <class Argument>
struct machine_of {
    using type = no_machine;
};
template <rule Rule>
struct machine_of<Rule> {
    using type = machine<Rule>;
};

// Why a rule is switched off, or does not judge everything.
[[nodiscard]] error malformed_rule(std::string_view rule, pattern_fault const& bad) noexcept;
[[nodiscard]] error rule_that_threw(std::string_view rule) noexcept;
[[nodiscard]] error rule_without_memory(std::string_view rule, std::string_view tensor) noexcept;

}  // namespace detail

// Runs up to 64 rules over the events of one source. A rule that throws, or has a malformed pattern, is switched off
// and reported in `trouble()`; the others go on.
template <class... Arguments>
class judges {
    static_assert(sizeof...(Arguments) <= 64, "spotter: a hook takes at most 64 rules.");

public:
    static constexpr bool any_rule = (rule<Arguments> || ...);  // arguments may be options, too
    // Some rule needs poll() before and after each close (machine.hpp).
    static constexpr bool polls = (detail::machine_of<Arguments>::type::polls || ... || false);
    // Some rule may read step durations (flag::unasked).
    static constexpr bool reads_times = (detail::machine_of<Arguments>::type::reads_times || ... || false);

    explicit judges(Arguments const&... each) noexcept : machines_{std::in_place, each...} {
        each_machine([&](auto& machine, std::size_t i) {
            enabled_ |= std::uint64_t{1} << i;
            pattern_fault const bad = machine.malformed();
            if (!bad.empty()) { switch_off(i, detail::malformed_rule(name_of_rule(machine), bad)); }
        });
        (take_worker(each), ...);
    }

    // Sets the worker number of the findings; by default that of the options among the arguments.
    void belong_to(std::uint32_t worker) noexcept { worker_ = worker; }
    // The worker number of the findings.
    [[nodiscard]] std::uint32_t worker() const noexcept { return worker_; }

    // Calls `use(i, tensor_needs)` with the needs of each enabled rule i.
    template <class Use>
    void declare(tensor_info const& tensor, Use&& use) noexcept {
        std::uint64_t judging = 0;
        each_machine([&](auto& machine, std::size_t i) {
            if (!enabled(i)) { return; }
            tensor_needs needs;
            if (guarded([&] { needs = machine.declare(tensor); })) {
                if (needs.lacks_memory) {
                    troubles_.add(detail::rule_without_memory(name_of_rule(machine), tensor.name));
                }
                judging |= std::uint64_t{any(needs.mask & pass_terms)} << i;
                use(i, needs);
            } else {
                threw(machine, i);
            }
        });
        if (!found_.declare(tensor, sizeof...(Arguments), judging)) {
            troubles_.add({errc::out_of_memory, "no memory to put findings together; each is reported by itself"});
        }
    }

    // Bit i: rule i is judged at this step.
    [[nodiscard]] std::uint64_t due(step_id step) noexcept {
        std::uint64_t bits = 0;
        each_machine([&](auto& machine, std::size_t i) {
            bool is_due = false;
            if (enabled(i) && !guarded([&] { is_due = machine.due(step); })) { threw(machine, i); }
            bits |= std::uint64_t{is_due} << i;
        });
        return bits & enabled_;
    }

    void observe(observation const& it, std::uint64_t set) noexcept {
        std::uint64_t const on = set & enabled_;
        found_.observe(it, on);
        each_machine([&, on](auto& machine, std::size_t i) {
            if ((on >> i & 1) != 0 && !guarded([&] { machine.observe(it); })) { threw(machine, i); }
        });
    }

    // Judges the step and calls `deliver(finding)` for each finding, after related findings were joined
    // (step_findings.hpp): a cause comes first, the others in the order of the rules. The alarm keeps the most severe.
    template <class Deliver>
    void close(step_id step, std::uint64_t set, step_alarm& into, Deliver&& deliver) noexcept {
        judge(step, set, into, deliver);
        hand_out(deliver);
    }
    // `close` in two parts, for callers that use the alarm before findings are delivered. A finding that cannot be kept
    // for lack of memory is delivered at once.
    template <class Deliver>
    void judge(step_id step, std::uint64_t set, step_alarm& into, Deliver& deliver) noexcept {
        held_ = {};
        each_machine([&](auto& machine, std::size_t i) {
            if ((set & enabled_) >> i & 1) {
                scratch_.clear();
                truth answer = truth::undecided;
                if (!guarded([&] { answer = machine.close(step, scratch_); })) {
                    threw(machine, i);
                } else if (answer == truth::yes) {
                    for (finding& each : scratch_) {
                        if (each.worker == 0) { each.worker = worker_; }  // a rule over several workers sets it
                        decide(each);
                        if (found_.take(each)) { continue; }
                        deliver(each);
                        into.add(each);
                    }
                    into.add_left_out(scratch_);
                }
                held_.join(scratch_.held());
            }
        });
        if constexpr (any_rule) {
            if (!found_.unsettled()) { return; }
            found_.finish_step(step);
            experiment_.answer(found_, step, worker_);
            held_.join(found_.unreported());
            for (finding const& each : found_) { into.add(each); }
        }
    }
    // Delivers the findings that `judge` has kept.
    template <class Deliver>
    void hand_out(Deliver& deliver) noexcept {
        if constexpr (any_rule) {
            for (finding const& each : found_) { deliver(each); }
            found_.clear();
        }
    }
    // The experiments for alarms, and the causes that were proven absent.
    [[nodiscard]] alarm_experiment& experiment() noexcept { return experiment_; }
    // Runs the responses to a delivered finding; calls `report(error)` for each failure.
    template <class Report>
    void respond(finding const& found, response_desk& desk, Report&& report) const {
        scratch_.respond(found, desk, report);
    }
    // The severity of what still held at the last close without being reported again.
    [[nodiscard]] severity held_back() const noexcept { return held_.severity(); }

    // `now` in seconds. A rule that throws is switched off.
    void poll([[maybe_unused]] double const& now) noexcept {
        if constexpr (polls) {
            each_machine([&](auto& machine, std::size_t i) {
                if (enabled(i) && !guarded([&] { machine.poll(now); })) { threw(machine, i); }
            });
        }
    }

    // Calls use(coverage) for each leaf of each rule. The reason of a rule that was switched off says so.
    template <class Use>
    void report(Use&& use) const {
        machines_.each([&](auto const& machine, [[maybe_unused]] std::size_t i) {
            if constexpr (requires { machine.report(use); }) {
                machine.report([&](coverage each) {
                    if (!enabled(i)) {
                        each.reason = machine.malformed().empty() ? "switched off: it threw an exception"
                                                                  : "switched off: malformed pattern";
                    }
                    use(each);
                });
            }
        });
    }

    // Some rule has judged at some close, or there is no rule.
    [[nodiscard]] bool judged_any() const noexcept {
        bool some = !any_rule;
        report([&](coverage const& each) { some = some || each.judged > 0; });
        return some;
    }

    // report() as a list; `whole`: false if memory was exhausted and the list is incomplete.
    [[nodiscard]] slot_array<coverage> coverages(std::size_t& count, bool& whole) const noexcept {
        slot_array<coverage> all;
        count = 0;
        whole = true;
        report([&](coverage const& each) {
            whole = all.grow(count + 1) && whole;
            if (all.size() > count) { all[count++] = each; }
        });
        return all;
    }

    // The reader for rules that can be replaced (live_rules); empty without such rules. After exchange() every tensor
    // must be declared again.
    [[nodiscard]] detail::content_reader reader() const noexcept {
        detail::content_reader its{};
        machines_.each([&](auto const& machine, std::size_t) {
            if constexpr (requires { machine.reader(); }) { its = machine.reader(); }
        });
        return its;
    }
    // Replaces the rules; returns the error of the last live_rules. If it succeeds, a rule that was switched off is
    // enabled.
    [[nodiscard]] error exchange([[maybe_unused]] void const* rules) noexcept {
        error why;
        each_machine([&](auto& machine, std::size_t i) {
            if constexpr (requires { machine.exchange(rules); }) {
                why = machine.exchange(rules);
                enabled_ |= std::uint64_t{!why} << i;
            }
        });
        return why;
    }

    // The error of the first rule that was switched off.
    [[nodiscard]] error const& trouble() const noexcept { return troubles_.first(); }
    [[nodiscard]] failure_list const& troubles() const noexcept { return troubles_; }  // the errors of all rules

private:
    template <class Argument>
    void take_worker([[maybe_unused]] Argument const& it) noexcept {
        if constexpr (!rule<Argument> && requires { std::uint32_t{it.worker}; }) { worker_ = it.worker; }
    }
    template <class Use>
    void each_machine(Use&& use) noexcept {
        machines_.each([&](auto& machine, std::size_t i) {
            if constexpr (requires { machine.due(step_id{}); }) { use(machine, i); }
        });
    }
    [[nodiscard]] bool enabled(std::size_t i) const noexcept { return (enabled_ >> i & 1) != 0; }
    void switch_off(std::size_t i, error const& why) noexcept {
        enabled_ &= ~(std::uint64_t{1} << i);
        troubles_.add(why);
    }
    template <class Machine>
    void threw(Machine const& machine, std::size_t i) noexcept {
        switch_off(i, detail::rule_that_threw(name_of_rule(machine)));
    }
    // The name of the rule; of a compound that of its first leaf.
    template <class Machine>
    [[nodiscard]] SPOTTER_COLD static std::string_view name_of_rule(Machine const& machine) noexcept {
        std::string_view name;
        machine.report([&](coverage const& each) { name = name.empty() ? each.rule : name; });
        return name;
    }
    // Sets the default decision: an error stops the run.
    static void decide(finding& it) noexcept {
        if (!it.decision_is_set) { it.decision = it.severity == severity::error ? decision::stop : decision::proceed; }
    }

    pack<typename detail::machine_of<Arguments>::type...> machines_;
    findings scratch_{};
    step_findings found_{};
    alarm_experiment experiment_{};
    findings::unreported held_{};
    std::uint64_t enabled_ = 0;
    std::uint32_t worker_ = 0;
    failure_list troubles_{};
};

template <class... Arguments>
judges(Arguments...) -> judges<Arguments...>;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY error malformed_rule(std::string_view rule, pattern_fault const& bad) noexcept {
    error why{errc::bad_pattern, "rule \""};
    why.what << rule << "\" has the malformed pattern " << bad << " and is switched off";
    return why;
}

SPOTTER_COLD_BODY error rule_that_threw(std::string_view rule) noexcept {
    error why{errc::user_code_threw, "rule \""};
    why.what << rule << "\" threw an exception and is switched off; rules and patterns must not throw";
    return why;
}

SPOTTER_COLD_BODY error rule_without_memory(std::string_view rule, std::string_view tensor) noexcept {
    error why{errc::out_of_memory, "rule \""};
    why.what << rule << "\" has no memory for \"" << tensor << "\" and does not judge it, or a part of it does not";
    return why;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
