// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what the rules found at one step, put together before it is told: one condition once, and what a NaN explains as its
// consequence.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

// Two laws. The same condition of the same rule on the same tensor is one finding, with the stronger severity and decision and the
// responses of both. A finding that tells of values that are no numbers, or is about a tensor that has such at this step, is no alarm
// beside the one that names their origin: it becomes an info that says what it is because of, and the origin takes its severity and
// decision. Where the origin was told at an earlier step and there were such values in every step of the mode since, the same holds, but
// that the consequence keeps its decision. Without memory findings are told as they are.
class step_findings {
public:
    // Room for what so many rules may find. False where memory is exhausted.
    [[nodiscard]] bool declare(tensor_info const& tensor, std::size_t rules, std::uint64_t judging) noexcept {
        std::size_t const wanted = rules * findings::capacity < most ? rules * findings::capacity : most;
        std::size_t const tensors = tensor.id + std::size_t{1};
        if (!list_.grow(wanted) || !marks_.grow(tensors) || !bad_.grow(tensors)) { return false; }
        marks_[tensor.id].judging = judging;
        return true;
    }
    // `rules`: those that see it. What the plan alone asked for says nothing here, as another record would not have it.
    void observe(observation const& it, std::uint64_t rules) noexcept {
        if (it.stats.nonfinite() > 0) { note(it, rules); }
    }
    // False where there is no more room.
    [[nodiscard]] bool take(finding const& one) noexcept {
        if (!list_.holds(count_)) { return false; }
        list_[count_++] = one;
        return true;
    }
    // Whether `settle` has something to do: nothing where nothing was found, and nothing is or was wrong.
    [[nodiscard]] bool unsettled() const noexcept { return (count_ | bad_count_) != 0 || holding_; }
    // Puts together what was taken. Begins the next step.
    SPOTTER_NOINLINE void settle(step_id step) noexcept {
        untold_ = severity::info;
        if (count_ > 0) {
            join_equals();
            finding const* const cause = bring_cause_to_front();
            if (cause != nullptr) {
                told_[index_of(step.mode)] = {cause->rule, cause->tensor, step, cause->worker, true};
                explain_by_first();
            } else {
                explain_by_earlier(told_[index_of(step.mode)]);
            }
        }
        if (bad_count_ == 0) { told_[index_of(step.mode)].holds = false; }
        holding_ = told_[0].holds || told_[1].holds || told_[2].holds;
        bad_count_ = 0;
        ++close_;
    }
    void clear() noexcept { count_ = 0; }
    // The severity that consequences would have had whose origin was told at an earlier step.
    [[nodiscard]] severity untold() const noexcept { return untold_; }

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
        bool holds = false;
    };

    SPOTTER_NOINLINE void note(observation const& it, std::uint64_t rules) noexcept {
        if (!marks_.holds(it.tensor.id) || !bad_.holds(bad_count_)) { return; }
        mark& mine = marks_[it.tensor.id];
        if ((mine.judging & rules) == 0 || std::exchange(mine.close, close_) == close_) { return; }
        bad_[bad_count_++] = it.tensor.name;
    }

    [[nodiscard]] static bool same(finding const& a, finding const& b) noexcept {
        auto const bits = [](double const& value) { return std::bit_cast<std::uint64_t>(value); };
        return a.rule == b.rule && a.reason == b.reason && a.tensor == b.tensor && a.measure == b.measure &&
               a.how == b.how && bits(a.threshold) == bits(b.threshold) && bits(a.measured) == bits(b.measured) &&
               a.worker == b.worker;
    }
    [[nodiscard]] static std::size_t responses_of(finding const& it) noexcept {
        std::size_t count = 0;
        while (count < finding::most_responses && it.responses[count].run != nullptr) { ++count; }
        return count;
    }
    // The stronger of both in everything that asks for something.
    static void strengthen(finding& it, finding const& other) noexcept {
        if (other.severity > it.severity) { it.severity = other.severity; }
        if (other.decision > it.decision) { it.decision = other.decision, it.decision_is_set = true; }
    }
    void join_equals() noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            for (std::size_t k = i + 1; k < count_;) {
                std::size_t const mine = responses_of(list_[i]), theirs = responses_of(list_[k]);
                if (!same(list_[i], list_[k]) || mine + theirs > finding::most_responses) {  // no response is lost
                    ++k;
                    continue;
                }
                strengthen(list_[i], list_[k]);
                if (list_[k].others > list_[i].others) { list_[i].others = list_[k].others; }
                for (std::size_t r = 0; r < theirs; ++r) { list_[i].responses[mine + r] = list_[k].responses[r]; }
                --count_;
                for (std::size_t m = k; m < count_; ++m) { list_[m] = list_[m + 1]; }
            }
        }
    }
    // The finding that names the origin of values that are no numbers, else the first that tells of such. A loop reads it first.
    [[nodiscard]] finding const* bring_cause_to_front() noexcept {
        std::size_t found = count_;
        for (std::size_t i = 0; i < count_ && (found == count_ || !list_[found].tells_origin); ++i) {
            if (list_[i].tells_origin || (list_[i].tells_non_finite && found == count_)) { found = i; }
        }
        if (found == count_) { return nullptr; }
        finding const cause = list_[found];
        for (std::size_t i = found; i > 0; --i) { list_[i] = list_[i - 1]; }
        list_[0] = cause;
        return &list_[0];
    }
    [[nodiscard]] bool is_consequence(finding const& it, std::string_view tensor, std::uint32_t worker) const noexcept {
        if (it.worker != worker) { return false; }
        if (it.tells_origin) { return it.tensor == tensor; }  // another origin is one of its own
        if (it.tells_non_finite) { return true; }
        for (std::size_t i = 0; i < bad_count_; ++i) {
            if (bad_[i] == it.tensor) { return true; }
        }
        return false;
    }
    void explain_by_first() noexcept {
        finding& cause = list_[0];
        for (std::size_t i = 1; i < count_; ++i) {
            finding& it = list_[i];
            if (!is_consequence(it, cause.tensor, cause.worker)) { continue; }
            strengthen(cause, it);
            it.decision = decision::proceed, it.decision_is_set = true;
            soften(it, cause.rule, cause.tensor, nullptr);
        }
    }
    void explain_by_earlier(origin const& earlier) noexcept {
        if (!earlier.holds) { return; }
        for (std::size_t i = 0; i < count_; ++i) {
            finding& it = list_[i];
            if (!is_consequence(it, earlier.tensor, earlier.worker)) { continue; }
            untold_ = it.severity > untold_ ? it.severity : untold_;
            soften(it, earlier.rule, earlier.tensor, &earlier.step);
        }
    }
    static void soften(finding& it, std::string_view rule, std::string_view tensor, step_id const* at) noexcept {
        text<80> why;
        why << "because of " << rule;
        if (tensor != it.tensor) { why << " in \"" << tensor << '"'; }
        if (at != nullptr) { why << " at " << name_of(at->mode) << '(' << at->index << ')'; }
        if (!it.detail.empty()) { why << "; " << it.detail.view(); }
        it.detail = why;
        it.severity = severity::info;
        it.remedy = {};  // the origin's is what to do
    }

    slots<finding> list_;
    slots<mark> marks_;            // by tensor id
    slots<std::string_view> bad_;  // tensors with values that are no numbers at this step
    std::size_t count_ = 0, bad_count_ = 0;
    std::uint64_t close_ = 1;
    severity untold_ = severity::info;
    bool holding_ = false;       // one of these holds:
    origin told_[mode_count]{};  // the last origin that was told; while it holds
};

}  // namespace spotter::inline SPOTTER_ABI
