// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what somebody outside asks of a run while it goes on, and what a hook does about it.
#pragma once

#include <spotter/core/content_reader.hpp>
#include <spotter/core/kept_text.hpp>
#include <spotter/hook/sink_calls.hpp>

namespace spotter::inline SPOTTER_ABI {

//   refused   what was asked cannot be done: only recorded
//   capture   what matches a glob, with its values, for some steps beyond the plan
//   pause     what the plan asks for is not kept until `resume`; rules judge, scalars and findings are recorded
//   flush     what was closed becomes visible to readers
//   plan      the plan is exchanged (live_plan)
//   rules     the rules are exchanged (live_rules)
enum class control_verb : std::uint8_t { refused, capture, pause, resume, flush, plan, rules };
[[nodiscard]] constexpr std::string_view name_of(control_verb what) noexcept {
    constexpr std::string_view names[] = {"refused", "capture", "pause", "resume", "flush", "plan", "rules"};
    return names[static_cast<std::size_t>(what)];
}

// The text that is recorded at the step that a request is honoured at, or refused.
inline constexpr std::string_view control_event = "control";

namespace detail {

struct control_readers {
    content_reader plan{}, rules{};
};

// A request as who writes the run has read it. It stays as it is until the loop has told that it is done.
struct control_request {
    control_verb verb = control_verb::refused;
    std::uint64_t steps = 0;        // of a capture
    kept_text names{};              // a glob, likewise
    void const* content = nullptr;  // of plan and rules
    text<200> asked{};              // in words: "capture act/* for 100 steps, asked by ada"
    error why{};                    // of what is refused
};

// What of a hook may be exchanged.
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

template <class Plan, class Use>
void with_collections(Plan const& plan, Use const& use) noexcept {
    collection_info list[Plan::limit + 1];
    std::size_t count = 0;
    plan.list([&](collection_info const& each) { list[count++] = each; });
    use(run_info{{list, count}});
}

template <class Sink, class Plan, class Judges, class Captures, class Registry, class Tell>
SPOTTER_NOINLINE void apply_request(control_request const& asked, Sink& sink, step_id step, Plan& plan, Judges& judges,
                                    Captures& captures, Registry& tensors, Tell const& tell) noexcept {
    error const why = apply(asked, plan, judges, captures);
    if (asked.content != nullptr && !why) {
        tensors.declare_all_anew();
        with_collections(plan, [&](run_info const& run) { sink.reset_collections(run); });
    }
    text<400> line;
    line << name_of(step.mode) << '(' << step.index << ") " << asked.asked.view();
    if (why) { line << "; refused: " << why.what.view(); }
    tell(line.view());
    sink.acknowledge(why);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
