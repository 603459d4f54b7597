// SPDX-License-Identifier: Apache-2.0
// The bodies of step_findings.hpp.
#pragma once

#include <spotter/judge/step_findings.hpp>

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
