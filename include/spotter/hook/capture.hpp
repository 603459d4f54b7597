// SPDX-License-Identifier: Apache-2.0
// Hook (L3): escalation: once a rule fires, more is kept for a while.
#pragma once

#include <spotter/hook/pending_responses.hpp>
#include <spotter/judge/tracked.hpp>
#include <spotter/plan/plan.hpp>
#include <spotter/rule/respond.hpp>

namespace spotter::inline SPOTTER_ABI {

// `on(rule, capture{plan, 100})`: for 100 steps from the next one on, what `plan` asks for is kept beyond the hook's
// own. Fired again meanwhile, it goes on for 100 more. Its patterns are asked at every observation of these steps, so
// they cost more than others.
template <plan_like Plan>
struct capture {
    using responds = void;
    static constexpr std::string_view name = "capture";
    Plan what;
    std::uint64_t steps;  // closed ones, from the next on

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
    static terms wanted(void const* plan, tensor_info const& tensor, step_id step) {
        Plan const& it = *static_cast<Plan const*>(plan);
        return it.wanted(it.members(tensor) & it.due(step));
    }
};

// What a hook offers to responses, and the captures that are going on: four at most, later ones are left out.
class captures final : public response_desk {
public:
    void capture(wish const& what, std::uint64_t steps) noexcept override;
    void await(pending_response const& it) noexcept override { pending_.add(it); }
    [[nodiscard]] finding_origin origin() const noexcept override { return origin_; }
    // Where findings come from.
    void belong_to(std::string_view run, std::uint32_t attempt) noexcept { origin_ = {run, attempt, 0}; }
    // Whether what responses began has failed meanwhile.
    void ask(failure_list& failures, bool at_the_end) noexcept;

    // Something beyond the plan may be wanted of any tensor.
    [[nodiscard]] bool active() const noexcept { return active_ || everything_; }
    // More or less than the plan's may be kept.
    [[nodiscard]] bool interfere() const noexcept { return active_ || everything_ || paused_; }
    // The sink wants whatever is observed, for a flight recorder.
    [[nodiscard]] bool everything() const noexcept { return everything_; }
    // As the sink says.
    void want_everything(bool it) noexcept { everything_ = it; }
    // What is to be kept of a tensor, what was planned included. A sink that wants everything asks for no more terms.
    [[nodiscard]] terms add(tracked_tensor& tensor, step_id step, terms planned) const noexcept;
    // Counts captures down.
    void step_closed() noexcept;

    // Somebody outside asks for what matches a glob, with its values, for so many steps from the next one on.
    // errc::bad_pattern, or errc::busy where four captures are going on.
    [[nodiscard]] error ask_for(std::string_view names, std::uint64_t steps) noexcept;
    // Nothing of what the plan asks for is kept, until that ends.
    void pause(bool on) noexcept { paused_ = on; }

private:
    struct going {
        wish what{};
        std::uint64_t left = 0;  // steps
        kept_text names{};       // a glob, of what was asked for from outside
    };
    [[nodiscard]] static terms wanted_by_name(void const* names, tensor_info const& tensor, step_id);
    terms add_captured(tracked_tensor& tensor, step_id step, terms planned) const noexcept;

    going list_[4]{};
    pending_responses pending_{};
    finding_origin origin_{};
    bool active_ = false;  // some capture goes on
    bool everything_ = false;
    bool paused_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/capture.ipp>
#endif
