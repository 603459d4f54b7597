// SPDX-License-Identifier: Apache-2.0
// Judge (L2): what the rules found at one step, put together before it is told: one condition once, and what a NaN
// explains as its consequence. The order of the rules decides between equals, and never which is the cause.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/rule/report_episode.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// Two laws. The same condition of the same rule on the same tensor is one finding, with the stronger severity and
// decision and the responses of both. A finding that tells of values that are no numbers, or is about a tensor that has
// such at this step, is no alarm beside the one that names their origin: it becomes an info that says what it is
// because of, and the origin takes its severity and decision. Of several that name the origin the one leads that says
// what led to it (finding::leads), else that of the tensor that was bad first. Where the origin was told at an earlier
// step and there were such values in every step of the mode since, the same holds, but that the consequence keeps its
// decision. Without memory findings are told as they are.
class step_findings {
public:
    // Room for what so many rules may find. False where memory is exhausted.
    [[nodiscard]] bool declare(tensor_info const& tensor, std::size_t rules, std::uint64_t judging) noexcept;
    // `rules`: those that see it. What the plan alone asked for says nothing here, as another record would not have it.
    void observe(observation const& it, std::uint64_t rules) noexcept;
    // False where there is no more room.
    [[nodiscard]] bool take(finding const& one) noexcept;
    // Whether `settle` has something to do: nothing where nothing was found, and nothing is or was wrong.
    [[nodiscard]] bool unsettled() const noexcept { return (count_ | bad_count_) != 0 || holding_; }
    // Puts together what was taken. Begins the next step.
    void settle(step_id step) noexcept;
    void clear() noexcept { count_ = 0; }
    // Of consequences whose origin was reported at an earlier step: as severe as they were without it.
    [[nodiscard]] findings::untold untold() const noexcept { return untold_; }

    // What was taken, and may be changed before it is told.
    [[nodiscard]] std::span<finding> all() noexcept { return {list_.data(), count_}; }
    [[nodiscard]] finding const* begin() const noexcept { return list_.data(); }
    [[nodiscard]] finding const* end() const noexcept { return list_.data() + count_; }

private:
    static constexpr std::size_t most = 128;  // what comes beyond is told as it is

    struct mark {
        std::uint64_t judging = 0;  // bit i: rule i asks for statistics of the tensor
        std::uint64_t close = 0;    // at which it was noted last
    };
    struct origin {
        std::string_view rule{}, tensor{};
        step_id step{};
        std::uint32_t worker = 0;
        detail::report_episode episode{};  // to the first step of the mode without such values
    };

    void note(observation const& it, std::uint64_t rules) noexcept;

    [[nodiscard]] static bool same(finding const& a, finding const& b) noexcept;
    // The stronger of both in everything that asks for something.
    static void strengthen(finding& it, finding const& other) noexcept;
    void join_equals() noexcept;
    // The finding that names the origin of values that are no numbers, else the first that tells of such; null: another
    // cause is in front, or nothing. A loop reads it first.
    [[nodiscard]] finding const* bring_cause_to_front() noexcept;
    [[nodiscard]] bool leads_before(finding const& it, finding const& other) const noexcept;
    // How many tensors were bad before that one at this step; all of them where it was not.
    [[nodiscard]] std::size_t bad_before(std::string_view tensor) const noexcept;
    [[nodiscard]] bool is_consequence(finding const& it, std::string_view tensor, std::uint32_t worker) const noexcept;
    void explain_by_first() noexcept;
    void explain_by_earlier(origin const& earlier) noexcept;
    static void soften(finding& it, std::string_view rule, std::string_view tensor, step_id const* at) noexcept;

    slot_array<finding> list_;
    slot_array<mark> marks_;            // by tensor id
    slot_array<std::string_view> bad_;  // tensors with values that are no numbers at this step
    std::size_t count_ = 0, bad_count_ = 0;
    std::uint64_t close_ = 1;
    findings::untold untold_{};
    bool holding_ = false;          // an episode of these goes on:
    origin origins_[mode_count]{};  // the last that was reported
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/judge/step_findings.ipp>
#endif
