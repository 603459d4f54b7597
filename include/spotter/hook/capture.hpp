// SPDX-License-Identifier: Apache-2.0
// Hook (L3): escalation: after a rule fires, the hook records more for a number of steps.
#pragma once

#include <spotter/core/failures.hpp>
#include <spotter/judge/tracked.hpp>
#include <spotter/plan/plan.hpp>
#include <spotter/rule/respond.hpp>

namespace spotter::inline SPOTTER_ABI {

// Eight at most; the outcome of further ones is never reported.
class pending_responses {
public:
    pending_responses() noexcept = default;
    pending_responses(pending_responses const&) = delete;
    pending_responses& operator=(pending_responses const&) = delete;
    ~pending_responses();

    void add(pending_response const& it) noexcept;  // beyond eight it is released at once
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // Removes those that have ended, and adds their failures.
    void ask(failure_list& failures) noexcept;
    // At the end of a run, waits up to 100 ms: a command that does not exist fails within that time, and should be
    // reported.
    void ask_patiently(failure_list& failures) noexcept;

private:
    static constexpr std::size_t capacity = 8;

    static void let_go(pending_response const& it) noexcept;

    pending_response list_[capacity]{};
    std::size_t count_ = 0;
};

// `on(rule, capture{plan, 100})`: when the rule fires, the next 100 steps also record what `plan` wants, beyond the
// hook's own plan. If the rule fires again in that time, the count starts again at 100. The patterns of `plan` are
// matched at every observation of these steps, so these steps cost more than others.
template <plan_like Plan>
struct capture {
    using responds = void;
    static constexpr std::string_view name = "capture";
    Plan what;
    std::uint64_t steps;  // closed steps, from the next one on

    constexpr capture(Plan plan, std::uint64_t count) noexcept : what{plan}, steps{count} {}

    error operator()(finding const&, response_desk& desk) const noexcept {
        if (pattern_fault const bad = what.malformed(); !bad.empty()) {
            error why{errc::bad_pattern, "the plan has the malformed pattern "};
            why.what << bad;
            return why;
        }
        desk.capture({&wanted, &what}, steps);
        return {};
    }

private:
    static stats_mask wanted(void const* plan, tensor_info const& tensor, step_id step) {
        Plan const& it = *static_cast<Plan const*>(plan);
        return it.wanted(it.members(tensor) & it.due(step));
    }
};

// What a hook offers to responses, and its running captures: at most four; further ones are ignored.
class captures final : public response_desk {
public:
    void capture(wish const& what, std::uint64_t steps) noexcept override;
    void await(pending_response const& it) noexcept override { pending_.add(it); }
    [[nodiscard]] finding_origin origin() const noexcept override { return origin_; }
    // The run and attempt that findings come from.
    void belong_to(std::string_view run, std::uint32_t attempt) noexcept { origin_ = {run, attempt, 0}; }
    // Asks whether a response that runs beside the loop has failed since; `at_the_end` waits up to 100 ms.
    void ask(failure_list& failures, bool at_the_end) noexcept;

    // A capture or the sink may want more of some tensor than the plan does.
    [[nodiscard]] bool active() const noexcept { return active_ || everything_; }
    // The terms kept may differ from the plan's.
    [[nodiscard]] bool interfere() const noexcept { return active_ || everything_ || paused_; }
    // The sink wants every observation with its values, for a flight recorder.
    [[nodiscard]] bool everything() const noexcept { return everything_; }
    // Sets everything().
    void want_everything(bool it) noexcept { everything_ = it; }
    // The terms to keep of a tensor: `planned` and those of the running captures. everything() adds no terms here.
    [[nodiscard]] stats_mask add(tracked_tensor& tensor, step_id step, stats_mask planned) const noexcept;
    // Counts each capture down by one step.
    void step_closed() noexcept;

    // A control request from outside the program: record the values of tensors that match a glob for `steps` steps,
    // from the next one on. Errors: bad_pattern; busy where four captures are running; out_of_memory.
    [[nodiscard]] error ask_for(std::string_view names, std::uint64_t steps) noexcept;
    // While on, the plan keeps nothing.
    void pause(bool on) noexcept { paused_ = on; }

private:
    struct going {
        wish what{};
        std::uint64_t left = 0;  // steps
        kept_text names{};       // the glob of ask_for
    };
    [[nodiscard]] static stats_mask wanted_by_name(void const* names, tensor_info const& tensor, step_id);
    stats_mask add_captured(tracked_tensor& tensor, step_id step, stats_mask planned) const noexcept;

    going list_[4]{};
    pending_responses pending_{};
    finding_origin origin_{};
    bool active_ = false;  // at least one capture is running
    bool everything_ = false;
    bool paused_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/clock.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY pending_responses::~pending_responses() {
    for (std::size_t i = 0; i < count_; ++i) { let_go(list_[i]); }
}

SPOTTER_BODY void pending_responses::add(pending_response const& it) noexcept {
    if (count_ == capacity) { return let_go(it); }
    list_[count_++] = it;
}

SPOTTER_BODY void pending_responses::ask(failure_list& failures) noexcept {
    std::size_t left = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        error why;
        if (!list_[i].known(list_[i], false, why)) {
            list_[left++] = list_[i];
        } else if (why) {
            failures.add(detail::response_error(list_[i].rule, list_[i].response, why));
        }
    }
    count_ = left;
}

SPOTTER_BODY void pending_responses::ask_patiently(failure_list& failures) noexcept {
    for (int milliseconds = 0; count_ > 0 && milliseconds < 100; ++milliseconds) {
        ask(failures);
        if (count_ == 0) { return; }
        detail::nap(1000);
    }
}

SPOTTER_BODY void pending_responses::let_go(pending_response const& it) noexcept {
    error why;
    (void)it.known(it, true, why);
}

SPOTTER_BODY void captures::capture(wish const& what, std::uint64_t steps) noexcept {
    going* free = nullptr;
    for (going& each : list_) {
        if (each.left > 0 && each.what.plan == what.plan) {
            each.left = steps;
            return;
        }
        free = free == nullptr && each.left == 0 ? &each : free;
    }
    if (free != nullptr) { free->what = what, free->left = steps; }
    active_ = active_ || steps > 0;
}

SPOTTER_BODY void captures::ask(failure_list& failures, bool at_the_end) noexcept {
    if (pending_.empty()) { return; }
    at_the_end ? pending_.ask_patiently(failures) : pending_.ask(failures);
}

SPOTTER_BODY stats_mask captures::add(tracked_tensor& tensor, step_id step, stats_mask planned) const noexcept {
    stats_mask const kept = paused_ ? stats_mask::none : planned;
    return active_ ? add_captured(tensor, step, kept) : kept;
}

SPOTTER_BODY error captures::ask_for(std::string_view names, std::uint64_t steps) noexcept {
    if (pattern_fault const bad = malformed_part(glob{names}); !bad.empty()) {
        error why{errc::bad_pattern, "malformed glob "};
        why.what << bad;
        return why;
    }
    going* its = nullptr;
    for (going& each : list_) {
        bool const same = each.left > 0 && each.what.wanted == &wanted_by_name && each.names.view() == names;
        its = same || (its == nullptr && each.left == 0) ? &each : its;
    }
    if (its == nullptr) { return {errc::busy, "four captures are running: ask again when one of them is over"}; }
    if (its->names.view() != names && !its->names.assign(names)) {
        return {errc::out_of_memory, "no memory for the names"};
    }
    its->what = {&wanted_by_name, &its->names};
    its->left = steps;
    active_ = active_ || steps > 0;
    return {};
}

SPOTTER_BODY stats_mask captures::wanted_by_name(void const* names, tensor_info const& tensor, step_id) {
    return glob{static_cast<kept_text const*>(names)->view()}(tensor) ? payload : stats_mask::none;
}

SPOTTER_BODY void captures::step_closed() noexcept {
    active_ = false;
    for (going& each : list_) {
        each.left -= each.left > 0 ? 1 : 0;
        active_ = active_ || each.left > 0;
    }
}

SPOTTER_BODY SPOTTER_NOINLINE stats_mask captures::add_captured(tracked_tensor& tensor, step_id step,
                                                                stats_mask planned) const noexcept {
    stats_mask all = planned;
    for (going const& each : list_) {
        if (each.left == 0) { continue; }
        all = detail::together(all, guarded_or([&] { return each.what.wanted(each.what.plan, tensor.info, step); },
                                               [] { return stats_mask::none; }));
    }
    tensor.keep_copies(all);
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
