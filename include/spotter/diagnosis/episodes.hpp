// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): what the rules of a pack have found so far: each condition, from its first close to its last.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/rule/finding.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// What a condition says about the run.
//   certain   a fault however well the run does: a value that is not finite, a parameter that nothing updates
//   outcome   the run itself does badly
//   symptom   healthy runs show it, too: an alarm only once the run does badly
enum class standing : std::uint8_t { certain, outcome, symptom };

// One condition of a rule, known by the rule and its reason. Values that are not finite have an episode for each mode,
// as those in evaluation are another fault than those in training.
struct episode {
    finding latest{};                     // the latest finding, with its step
    std::size_t machine = 0;              // place of the rule in its pack
    std::uint64_t first = 0, last = 0;    // first close of this episode, and last, from 1 on; 0: none
    std::uint64_t ever_first = 0;         // the first close of any episode
    std::uint64_t unbroken = 0;           // since this close the rule has found it whenever it decided
    std::uint64_t healthy = 0;            // closes since `last` at which the rule decided and did not find it
    bool noted = false, alarmed = false;  // reported in this episode, as a note or as an alarm
    bool quiet = false;                   // evidence only (see hear()): never reported as a finding

    [[nodiscard]] constexpr bool holds() const noexcept { return first != 0; }
    [[nodiscard]] constexpr bool was_found_at(std::uint64_t close) const noexcept { return last == close && !quiet; }
};

class episodes {
public:
    static constexpr std::size_t most = 96;  // more than any pack has conditions
    // An episode ends after `ends_after` decided closes without its condition, and `quiet_for` closes since it last
    // held. For `quiet_for` closes after an alarm, the diagnoser takes symptoms to be its consequences.
    static constexpr std::uint64_t ends_after = 10;
    static constexpr std::uint64_t quiet_for = 100;

    [[nodiscard]] constexpr bool reserve() noexcept { return all_.grow(most); }

    // Records that the rule at this place found this at that close. Null where there is no room.
    constexpr episode* note(std::size_t machine, finding const& it, std::uint64_t close) noexcept {
        episode* const mine = place_of(machine, it);
        if (mine == nullptr) { return nullptr; }
        if (!mine->holds() || mine->healthy > 0) { mine->unbroken = close; }
        if (!mine->holds()) { mine->first = close; }
        if (mine->ever_first == 0) { mine->ever_first = close; }
        mine->latest = it;
        mine->last = close;
        mine->healthy = 0;
        return mine;
    }
    // Records evidence that is no finding. It holds until the same rule gives other evidence.
    constexpr void hear(std::size_t machine, finding const& it, std::uint64_t close) noexcept {
        for (episode& each : *this) {
            if (each.machine == machine && each.quiet) { each.first = 0; }
        }
        if (episode* const mine = note(machine, it, close); mine != nullptr) { mine->quiet = true; }
    }
    // The rule has decided at that close: counts the close for its conditions that were not found, and ends those that
    // have not held for long enough.
    constexpr void decided(std::size_t machine, std::uint64_t close) noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            episode& it = all_[i];
            if (it.machine != machine || it.quiet || !it.holds() || it.last == close) { continue; }
            if (++it.healthy >= ends_after && close - it.last >= quiet_for) {
                it.first = 0, it.noted = it.alarmed = false;
            }
        }
    }

    [[nodiscard]] constexpr episode* begin() noexcept { return all_.data(); }
    [[nodiscard]] constexpr episode* end() noexcept { return all_.data() + count_; }
    [[nodiscard]] constexpr episode const* begin() const noexcept { return all_.data(); }
    [[nodiscard]] constexpr episode const* end() const noexcept { return all_.data() + count_; }

    // The open episode of that rule that held last, for any of its conditions (0) or for one; null where there is none.
    [[nodiscard]] constexpr episode const* find(rule_id rule, std::uint8_t condition = 0) const noexcept {
        episode const* best = nullptr;
        for (episode const& it : *this) {
            bool const is_it = it.latest.id == rule && (condition == 0 || it.latest.condition == condition);
            if (is_it && it.holds() && (best == nullptr || it.last > best->last)) { best = &it; }
        }
        return best;
    }

private:
    [[nodiscard]] constexpr episode* place_of(std::size_t machine, finding const& it) noexcept {
        for (episode& each : *this) {
            bool const same_place = !it.tells_origin || each.latest.step.mode == it.step.mode;
            if (each.machine == machine && each.latest.rule == it.rule && each.latest.reason == it.reason &&
                same_place) {
                return &each;
            }
        }
        if (count_ == most || !all_.holds(count_)) { return nullptr; }
        episode& fresh = all_[count_++];
        fresh.machine = machine;
        return &fresh;
    }

    slot_array<episode> all_;
    std::size_t count_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
