// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): what the rules of a pack have said so far: each condition from its first close to its last.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/rule/finding.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// How far a condition can be trusted.
//   certain   it is wrong however well the run does: a value that is no number, a parameter that nothing updates
//   outcome   it is about the outcome itself
//   symptom   met in healthy nets, too: worth an alarm once the run does badly
enum class standing : std::uint8_t { certain, outcome, symptom };

// One condition of a rule: the rule and its reason; of values that are no numbers also the mode, as evaluation's are
// not training's.
struct episode {
    std::string_view reason{};
    finding latest{};                     // with its step
    std::size_t machine = 0;              // that found it
    std::uint64_t first = 0, last = 0;    // closes at which it held, from 1 on; `first` that of the episode at hand
    std::uint64_t ever_first = 0;         // the first close at which it ever held
    std::uint64_t healthy = 0;            // decided closes without it since
    bool noted = false, alarmed = false;  // told in this episode, as an info or as an alarm
    bool quiet = false;                   // testimony: it is evidence, and is never told as found

    [[nodiscard]] constexpr bool holds() const noexcept { return first != 0; }
    [[nodiscard]] constexpr bool was_found_at(std::uint64_t close) const noexcept { return last == close && !quiet; }
};

class episodes {
public:
    static constexpr std::size_t most = 96;          // conditions that packs have are fewer
    static constexpr std::uint64_t ends_after = 10;  // decided closes without it, and
    // Closes since it held last; after an alarm, symptoms are taken to be because of it for as long.
    static constexpr std::uint64_t quiet_for = 100;

    [[nodiscard]] constexpr bool reserve() noexcept { return all_.grow(most); }

    // The machine found this at that close. Null where there is no room.
    constexpr episode* note(std::size_t machine, finding const& it, std::uint64_t close) noexcept {
        episode* const mine = place_of(machine, it);
        if (mine == nullptr) { return nullptr; }
        if (!mine->holds()) { mine->first = close; }
        if (mine->ever_first == 0) { mine->ever_first = close; }
        mine->latest = it;
        mine->last = close;
        mine->healthy = 0;
        return mine;
    }
    // What the machine testifies stands until it testifies something else.
    constexpr void hear(std::size_t machine, finding const& it, std::uint64_t close) noexcept {
        for (episode& each : *this) {
            if (each.machine == machine && each.quiet) { each.first = 0; }
        }
        if (episode* const mine = note(machine, it, close); mine != nullptr) { mine->quiet = true; }
    }
    // The machine has decided at that close; what it did not find has ended once it did not find it often enough.
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

    // The latest of that rule whose episode goes on, by any of its conditions (0) or by that one; null where there is
    // none.
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
            if (each.machine == machine && each.latest.rule == it.rule && each.reason == it.reason && same_place) {
                return &each;
            }
        }
        if (count_ == most || !all_.holds(count_)) { return nullptr; }
        episode& fresh = all_[count_++];
        fresh.reason = it.reason, fresh.machine = machine;
        return &fresh;
    }

    slot_array<episode> all_;
    std::size_t count_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
