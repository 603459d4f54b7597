// SPDX-License-Identifier: Apache-2.0
// Plan (L2): a plan that can be replaced while the run goes on (ext/json/live.hpp makes one).
#pragma once

#include <spotter/core/content_reader.hpp>
#include <spotter/plan/dynamic_plan.hpp>

namespace spotter::inline SPOTTER_ABI {

// Begins with the plan `first`. A later plan adds its own collections; those of earlier plans are no longer due. So a
// number means the same collection during the whole run; at most 64 in total. A copy begins with the first plan again.
template <plan_like Plan>
class live_plan {
public:
    // The limit (`plan_like`) for the collections of all plans together.
    static constexpr std::size_t limit = 64;

    live_plan(Plan const& first, detail::content_reader const& how) noexcept : first_{first}, how_{how} {}
    live_plan(live_plan const& other) noexcept : live_plan{other.first_, other.how_} {}
    live_plan& operator=(live_plan const&) = delete;
    ~live_plan() {
        for (std::size_t i = 0; i < count_; ++i) { delete later_[i]; }
    }

    // Bit i: collection i, of the newest plan, is due at this step.
    [[nodiscard]] std::uint64_t due(step_id step) const {
        return count_ == 0 ? first_.due(step) : newest().due(step) << from_;
    }
    // Membership in the collections of all plans so far; only those of the newest are due.
    [[nodiscard]] std::uint64_t members(tensor_info const& tensor) const {
        std::uint64_t all = first_.members(tensor);
        std::size_t begin = first_size();
        for (std::size_t i = 0; i < count_; begin += later_[i++]->size()) {
            all |= later_[i]->members(tensor) << begin;
        }
        return all;
    }
    // The union of what a set of collections wants.
    [[nodiscard]] stats_mask wanted(std::uint64_t set) const noexcept {
        return count_ == 0 ? first_.wanted(set) : newest().wanted(set >> from_);
    }
    // Of the first plan: later ones are checked before they replace it.
    [[nodiscard]] pattern_fault malformed() const noexcept { return first_.malformed(); }
    // Lists the collections of all plans so far.
    template <class Use>
    void list(Use&& use) const noexcept {
        first_.list(use);
        for (std::size_t i = 0; i < count_; ++i) { later_[i]->list(use); }
    }

    // The first plan.
    [[nodiscard]] Plan const& first() const noexcept { return first_; }
    // Parses plans from a file's text.
    [[nodiscard]] detail::content_reader const& reader() const noexcept { return how_; }
    // `plan`: a dynamic_plan. It is refused if it sets options of the run, which can no longer change.
    [[nodiscard]] error exchange(void const* plan) noexcept {
        auto const& next = *static_cast<dynamic_plan const*>(plan);
        if (next.dry_run || !next.run.empty()) {
            return {errc::bad_config,
                    "a plan that is exchanged says what is kept; choices of the run stand from its start on"};
        }
        std::size_t before = first_size();
        for (std::size_t i = 0; i < count_; ++i) { before += later_[i]->size(); }
        if (before + next.size() > limit || before == limit) {
            return {errc::bad_config,
                    "a run has 64 collections at most, those of the plans before included: start it anew"};
        }
        auto* const copy = new (std::nothrow) dynamic_plan{next};
        if (copy == nullptr || copy->size() != next.size() || !later_.grow(count_ + 1)) {
            delete copy;
            return {errc::out_of_memory, "no memory for the plan"};
        }
        later_[count_++] = copy;
        from_ = before;
        return {};
    }

private:
    [[nodiscard]] std::size_t first_size() const noexcept {
        std::size_t size = 0;
        first_.list([&](collection_info const&) { ++size; });
        return size;
    }
    [[nodiscard]] dynamic_plan const& newest() const noexcept { return *later_[count_ - 1]; }

    Plan first_;
    detail::content_reader how_;
    slot_array<dynamic_plan*> later_{};
    std::size_t count_ = 0;  // number of later plans
    std::size_t from_ = 0;   // number of the newest plan's first collection
};

}  // namespace spotter::inline SPOTTER_ABI
