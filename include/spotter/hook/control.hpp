// SPDX-License-Identifier: Apache-2.0
// Hook (L3): control requests from outside the program during a run, and how a hook executes them.
#pragma once

#include <spotter/core/content_reader.hpp>
#include <spotter/core/kept_text.hpp>
#include <spotter/hook/sink_calls.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The finding for a stop request (record/errands.hpp): a warning with decision::stop, at every close until the
// request is taken back.
[[nodiscard]] inline finding stop_request(step_id step, std::string_view reason) noexcept {
    finding asked;
    asked.attribute_to(rule_id::stop_file);
    asked.reason = "a request from outside asks the run to stop";
    asked.remedy = "Save what is needed and leave the loop; remove the file `stop` to go on.";
    asked.step = step;
    asked.severity = severity::warning;
    asked.decision = decision::stop;
    asked.decision_is_set = true;
    asked.detail << reason;
    return asked;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

//   refused   the request cannot be executed: it is only recorded
//   capture   record the values of tensors that match a glob for some steps, beyond the plan
//   pause     the plan keeps nothing until `resume`; rules go on, scalars and findings are recorded
//   flush     closed steps become visible to readers
//   plan      replace the plan (live_plan)
//   rules     replace the rules (live_rules)
enum class control_verb : std::uint8_t { refused, capture, pause, resume, flush, plan, rules };
[[nodiscard]] constexpr std::string_view name_of(control_verb what) noexcept {
    constexpr std::string_view names[] = {"refused", "capture", "pause", "resume", "flush", "plan", "rules"};
    return names[static_cast<std::size_t>(what)];
}

// The name of the text that is recorded at the step at which a request is executed or refused.
inline constexpr std::string_view control_event = "control";

namespace detail {

struct control_readers {
    content_reader plan{}, rules{};
};

// A request as the writer thread has parsed it. The writer does not change it until the loop has acknowledged it.
struct control_request {
    control_verb verb = control_verb::refused;
    std::uint64_t steps = 0;        // of a capture
    kept_text names{};              // a glob, of a capture
    void const* content = nullptr;  // of plan and rules: what control_readers has parsed
    text<200> asked{};              // in words: "capture act/* for 100 steps, asked by ada"
    error why{};                    // why it is refused
};

// The readers of those parts of a hook that can be replaced during a run.
template <class Plan, class Judges>
[[nodiscard]] control_readers readers_of(Plan const& plan, Judges const& judges) noexcept {
    control_readers all;
    if constexpr (requires { plan.reader(); }) { all.plan = plan.reader(); }
    all.rules = judges.reader();
    return all;
}
template <class Plan, class Judges, class Captures>
[[nodiscard]] error apply(control_request const& it, Plan& plan, Judges& judges, Captures& captures) noexcept {
    switch (it.verb) {
        case control_verb::capture:
            return captures.ask_for(it.names, it.steps);
        case control_verb::pause:
        case control_verb::resume:
            captures.pause(it.verb == control_verb::pause);
            return {};
        case control_verb::plan:
            if constexpr (requires { plan.exchange(it.content); }) { return plan.exchange(it.content); }
            return {};
        case control_verb::rules:
            return judges.exchange(it.content);
        default:
            return it.why;
    }
}

// The collections of a plan in words.
template <class Plan>
struct listed_collections {
    collection_info list[Plan::limit + 1];
    std::size_t count = 0;

    SPOTTER_NOINLINE explicit listed_collections(Plan const& plan) noexcept {
        plan.list([this](collection_info const& each) { list[count++] = each; });
    }
    // Lives as long as this.
    [[nodiscard]] run_info run() const noexcept { return {{list, count}}; }
};

// What is answered to a request: what was asked in which step, and why it is refused.
[[nodiscard]] text<400> answer_to(control_request const& asked, step_id step, error const& why) noexcept;

template <class Sink, class Plan, class Judges, class Captures, class Registry, class Tell>
SPOTTER_NOINLINE void apply_request(control_request const& asked, Sink& sink, step_id step, Plan& plan, Judges& judges,
                                    Captures& captures, Registry& tensors, Tell const& tell) noexcept {
    error const why = apply(asked, plan, judges, captures);
    if (asked.content != nullptr && !why) {
        tensors.declare_all_anew();
        sink.reset_collections(listed_collections{plan}.run());
    }
    tell(answer_to(asked, step, why).view());
    sink.acknowledge(why);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY text<400> answer_to(control_request const& asked, step_id step, error const& why) noexcept {
    text<400> line;
    line << name_of(step.mode) << '(' << step.index << ") " << asked.asked.view();
    if (why) { line << "; refused: " << why.what.view(); }
    return line;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
