// SPDX-License-Identifier: Apache-2.0
// Rule (L2): rules that can be exchanged during a run (ext/json/live.hpp makes some).
#pragma once

#include <spotter/core/content_reader.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/rule/dynamic_rule.hpp>

namespace spotter::inline SPOTTER_ABI {

// Starts with the rules of `first`. Rules that replace them know only what they observe from then on. Replaced rules
// report nothing more, but their coverage stays.
struct live_rules {
    using kind = rule_kind;
    dynamic_rule first;          // active until others replace it
    detail::content_reader how;  // reads the rules of a control file
};

template <>
class machine<live_rules> {
public:
    explicit machine(live_rules const& it) noexcept : first_{it.first}, how_{it.how} {}
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;
    ~machine() {
        for (std::size_t i = 0; i < count_; ++i) { delete later_[i]; }
    }

    tensor_needs declare(tensor_info const& tensor) { return now_->declare(tensor); }
    void observe(observation const& it) { now_->observe(it); }
    truth close(step_id step, findings& out) { return now_->close(step, out); }
    [[nodiscard]] bool due(step_id step) const { return now_->due(step); }
    static constexpr bool polls = true, reads_times = true;
    void poll(double const& now) { now_->poll(now); }
    template <class Use>
    void report(Use&& use) const {
        first_.report(use);
        for (std::size_t i = 0; i < count_; ++i) { later_[i]->report(use); }
    }
    [[nodiscard]] pattern_fault malformed() const noexcept { return now_->malformed(); }

    // What reads the rules of a control file.
    [[nodiscard]] detail::content_reader const& reader() const noexcept { return how_; }
    // `rules` points to a dynamic_rule. The caller must then declare every tensor again.
    [[nodiscard]] error exchange(void const* rules) noexcept {
        auto* const next = new (std::nothrow) machine<dynamic_rule>{*static_cast<dynamic_rule const*>(rules)};
        if (next == nullptr || !later_.grow(count_ + 1)) {
            delete next;
            return {errc::out_of_memory, "no memory for the rules"};
        }
        if (pattern_fault const bad = next->malformed(); !bad.empty()) {
            delete next;
            error why{errc::bad_pattern, "the rules have the malformed pattern "};
            why.what << bad;
            return why;
        }
        now_ = later_[count_++] = next;
        return {};
    }

private:
    machine<dynamic_rule> first_;
    slot_array<machine<dynamic_rule>*> later_{};  // all are kept: findings refer to their texts
    std::size_t count_ = 0;
    machine<dynamic_rule>* now_ = &first_;
    detail::content_reader how_;
};

}  // namespace spotter::inline SPOTTER_ABI
