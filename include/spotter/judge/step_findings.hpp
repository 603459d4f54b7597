// SPDX-License-Identifier: Apache-2.0
// Judge (L2): joins the findings of a step before they are reported: equal conditions once, and consequences of NaN and
// infinity with their origin. The order of the rules decides between equals, but never which finding is the cause.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/rule/report_episode.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// Joins in two ways. (1) Findings of the same rule, condition and tensor become one, with the higher severity and
// decision, and the responses of both. (2) A finding about non-finite values, or about a tensor with such values at
// this step, is a consequence of the finding that names their origin. It becomes a note that names the origin, which
// takes over its severity and decision. If several name an origin, the cause is one that says what led to it
// (finding::leads), otherwise the one whose tensor was non-finite first. If the origin was reported at an earlier step,
// and every step of the mode since had non-finite values, the consequence becomes a note, too, but keeps its decision.
// Without memory findings are reported unchanged.
class step_findings {
public:
    // Makes room for the findings of that many rules. False where memory is exhausted.
    [[nodiscard]] bool declare(tensor_info const& tensor, std::size_t rules, std::uint64_t judging) noexcept;
    // `rules`: those that see it. Statistics that only the plan wants are ignored: another record would not have them.
    void observe(observation const& it, std::uint64_t rules) noexcept;
    // False if there is no room.
    [[nodiscard]] bool take(finding const& one) noexcept;
    // Whether `finish_step` has something to do: there are findings, or non-finite values now or before.
    [[nodiscard]] bool unsettled() const noexcept { return (count_ | bad_count_) != 0 || holding_; }
    // Joins the findings that were taken, and begins the next step.
    void finish_step(step_id step) noexcept;
    void clear() noexcept { count_ = 0; }
    // The severity of consequences whose origin was reported at an earlier step, as it was before.
    [[nodiscard]] findings::unreported unreported() const noexcept { return unreported_; }

    // The findings so far; they may be changed before they are reported.
    [[nodiscard]] std::span<finding> all() noexcept { return {list_.data(), count_}; }
    [[nodiscard]] finding const* begin() const noexcept { return list_.data(); }
    [[nodiscard]] finding const* end() const noexcept { return list_.data() + count_; }

private:
    static constexpr std::size_t most = 128;  // further findings are reported unchanged

    struct mark {
        std::uint64_t judging = 0;  // bit i: rule i needs statistics of the tensor
        std::uint64_t close = 0;    // the last one at which it was non-finite
    };
    struct origin {
        std::string_view rule{}, tensor{};
        step_id step{};
        std::uint32_t worker = 0;
        detail::report_episode episode{};  // until the mode's first step without non-finite values
    };

    void note(observation const& it, std::uint64_t rules) noexcept;

    [[nodiscard]] static bool same(finding const& a, finding const& b) noexcept;
    // Raises severity and decision to those of `other`.
    static void strengthen(finding& it, finding const& other) noexcept;
    void join_equals() noexcept;
    // Moves the cause to the front, where a loop reads it first. Returns the finding that names the origin of
    // non-finite values, otherwise the first about such values; null if neither is in front.
    [[nodiscard]] finding const* bring_cause_to_front() noexcept;
    [[nodiscard]] bool leads_before(finding const& it, finding const& other) const noexcept;
    // How many tensors were non-finite before that one at this step; the number of all if it was not.
    [[nodiscard]] std::size_t bad_before(std::string_view tensor) const noexcept;
    [[nodiscard]] bool is_consequence(finding const& it, std::string_view tensor, std::uint32_t worker) const noexcept;
    void explain_by_first() noexcept;
    void explain_by_earlier(origin const& earlier) noexcept;
    static void soften(finding& it, std::string_view rule, std::string_view tensor, step_id const* at) noexcept;

    slot_array<finding> list_;
    slot_array<mark> marks_;            // by tensor id
    slot_array<std::string_view> bad_;  // tensors with non-finite values at this step
    std::size_t count_ = 0, bad_count_ = 0;
    std::uint64_t close_ = 1;
    findings::unreported unreported_{};
    bool holding_ = false;          // an episode of non-finite values goes on:
    origin origins_[mode_count]{};  // the last reported origin
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/judge/step_findings.ipp>
#endif
