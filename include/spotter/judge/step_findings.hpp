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
namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY bool step_findings::declare(tensor_info const& tensor, std::size_t rules,
                                              std::uint64_t judging) noexcept {
    std::size_t const wanted = rules * findings::capacity < most ? rules * findings::capacity : most;
    std::size_t const tensors = tensor.id + std::size_t{1};
    if (!list_.grow(wanted) || !marks_.grow(tensors) || !bad_.grow(tensors)) { return false; }
    marks_[tensor.id].judging = judging;
    return true;
}

SPOTTER_BODY void step_findings::observe(observation const& it, std::uint64_t rules) noexcept {
    if (it.stats.nonfinite() > 0) { note(it, rules); }
}

SPOTTER_BODY bool step_findings::take(finding const& one) noexcept {
    if (!list_.holds(count_)) { return false; }
    list_[count_++] = one;
    return true;
}

SPOTTER_BODY SPOTTER_NOINLINE void step_findings::finish_step(step_id step) noexcept {
    unreported_ = {};
    origin& its = origins_[index_of(step.mode)];
    if (count_ > 0) {
        join_equals();
        if (finding const* const cause = bring_cause_to_front(); cause != nullptr) {
            its = {cause->rule, cause->tensor, step, cause->worker, its.episode};
            (void)its.episode.report();
            explain_by_first();
        } else if (its.episode.is_reported()) {
            explain_by_earlier(its);
        }
    }
    if (bad_count_ == 0) { its.episode.end(); }
    holding_ = false;
    for (origin const& each : origins_) { holding_ = holding_ || each.episode.is_reported(); }
    bad_count_ = 0;
    ++close_;
}

SPOTTER_BODY SPOTTER_NOINLINE void step_findings::note(observation const& it, std::uint64_t rules) noexcept {
    if (!marks_.holds(it.tensor.id) || !bad_.holds(bad_count_)) { return; }
    mark& mine = marks_[it.tensor.id];
    if ((mine.judging & rules) == 0 || std::exchange(mine.close, close_) == close_) { return; }
    bad_[bad_count_++] = it.tensor.name;
}

SPOTTER_COLD_BODY bool step_findings::same(finding const& a, finding const& b) noexcept {
    auto const bits = [](double const& value) { return std::bit_cast<std::uint64_t>(value); };
    return a.rule == b.rule && a.reason == b.reason && a.tensor == b.tensor && a.measure == b.measure &&
           a.how == b.how && bits(a.threshold) == bits(b.threshold) && bits(a.measured) == bits(b.measured) &&
           a.worker == b.worker;
}

SPOTTER_COLD_BODY void step_findings::strengthen(finding& it, finding const& other) noexcept {
    if (other.severity > it.severity) { it.severity = other.severity; }
    it.leads = it.leads || other.leads;
    if (other.decision > it.decision) { it.decision = other.decision, it.decision_is_set = true; }
}

SPOTTER_COLD_BODY void step_findings::join_equals() noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        for (std::size_t k = i + 1; k < count_;) {
            std::size_t const mine = list_[i].response_count(), theirs = list_[k].response_count();
            if (!same(list_[i], list_[k]) || mine + theirs > finding::most_responses) {  // keep all responses
                ++k;
                continue;
            }
            if (list_[k].leads && !list_[i].leads) {  // a finding that names a cause has more to say
                list_[i].detail = list_[k].detail, list_[i].remedy = list_[k].remedy;
            }
            strengthen(list_[i], list_[k]);
            if (list_[k].others > list_[i].others) { list_[i].others = list_[k].others; }
            for (std::size_t r = 0; r < theirs; ++r) { list_[i].responses[mine + r] = list_[k].responses[r]; }
            --count_;
            for (std::size_t m = k; m < count_; ++m) { list_[m] = list_[m + 1]; }
        }
    }
}

SPOTTER_COLD_BODY std::size_t step_findings::bad_before(std::string_view tensor) const noexcept {
    std::size_t place = 0;
    while (place < bad_count_ && bad_[place] != tensor) { ++place; }
    return place;
}

namespace detail {

// The rank of a finding as the cause of a step; 0: no cause.
[[nodiscard]] inline int rank_as_cause(finding const& it) noexcept {
    if (it.tells_origin) { return it.leads ? 4 : 3; }
    return it.tells_non_finite ? 2 : it.leads ? 1 : 0;
}

}  // namespace detail

SPOTTER_COLD_BODY bool step_findings::leads_before(finding const& it, finding const& other) const noexcept {
    int const mine = detail::rank_as_cause(it), its = detail::rank_as_cause(other);
    if (mine != its) { return mine > its; }
    if (!it.tells_origin && !it.leads) { return false; }  // keeps the first
    std::size_t const place = bad_before(it.tensor), place_of_other = bad_before(other.tensor);
    return place != place_of_other ? place < place_of_other : it.rule < other.rule;
}

SPOTTER_COLD_BODY finding const* step_findings::bring_cause_to_front() noexcept {
    std::size_t found = 0;
    for (std::size_t i = 1; i < count_; ++i) { found = leads_before(list_[i], list_[found]) ? i : found; }
    if (detail::rank_as_cause(list_[found]) == 0) { return nullptr; }
    finding const cause = list_[found];
    for (std::size_t i = found; i > 0; --i) { list_[i] = list_[i - 1]; }
    list_[0] = cause;
    return detail::rank_as_cause(cause) > 1 ? &list_[0] : nullptr;
}

SPOTTER_COLD_BODY bool step_findings::is_consequence(finding const& it, std::string_view tensor,
                                                     std::uint32_t worker) const noexcept {
    if (it.worker != worker) { return false; }
    if (it.tells_origin) { return it.tensor == tensor; }  // another origin is no consequence
    if (it.leads) { return false; }                       // nor is a cause
    return it.tells_non_finite || bad_before(it.tensor) < bad_count_;
}

SPOTTER_COLD_BODY void step_findings::explain_by_first() noexcept {
    finding& cause = list_[0];
    for (std::size_t i = 1; i < count_; ++i) {
        finding& it = list_[i];
        if (!is_consequence(it, cause.tensor, cause.worker)) { continue; }
        strengthen(cause, it);
        it.leads = false;
        it.decision = decision::proceed, it.decision_is_set = true;
        soften(it, cause.rule, cause.tensor, nullptr);
    }
}

SPOTTER_COLD_BODY void step_findings::explain_by_earlier(origin const& earlier) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        finding& it = list_[i];
        if (!is_consequence(it, earlier.tensor, earlier.worker)) { continue; }
        unreported_.join(it.severity);
        soften(it, earlier.rule, earlier.tensor, &earlier.step);
    }
}

SPOTTER_COLD_BODY void step_findings::soften(finding& it, std::string_view rule, std::string_view tensor,
                                             step_id const* at) noexcept {
    evidence_text why;
    why << "because of " << rule;
    if (tensor != it.tensor) { why << " in \"" << tensor << '"'; }
    if (at != nullptr) { why << " at " << name_of(at->mode) << '(' << at->index << ')'; }
    if (!it.detail.empty()) { why << "; " << it.detail.view(); }
    it.detail = why;
    it.severity = severity::info;
    it.remedy = {};  // the origin has the remedy
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
