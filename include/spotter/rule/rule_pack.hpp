// SPDX-License-Identifier: Apache-2.0
// Rule (L2): up to 64 rules as one, with the answers of `||`. A tensor costs time only in the rules that watch it.
#pragma once

#include <spotter/core/pack.hpp>
#include <spotter/rule/compound.hpp>

namespace spotter::inline SPOTTER_ABI {

// Yes when one of them says yes; the findings of all. `together(a, b, c)` answers as `a || b || c` does.
template <rule... Rules>
struct rule_pack {
    static_assert(sizeof...(Rules) <= 64, "spotter: a pack takes at most 64 rules; put two packs together.");
    using kind = rule_kind;
    pack<Rules...> rules;  // called in this order
};

// Takes 64 rules at most; a pack may contain packs.
template <rule... Rules>
[[nodiscard]] constexpr rule_pack<Rules...> together(Rules... rules) noexcept {
    return {pack<Rules...>{std::in_place, rules...}};
}

template <class... Rules>
class machine<rule_pack<Rules...>> {
public:
    constexpr explicit machine(rule_pack<Rules...> const& it) noexcept
        : machines_{
              it.rules.apply([](Rules const&... each) { return pack<machine<Rules>...>{std::in_place, each...}; })} {}

    constexpr tensor_needs declare(tensor_info const& tensor) {
        detail::needs_of_parts all;
        machines_.each([&](auto& each, std::size_t) { all.add(each.declare(tensor), tensor); });
        return all.note(watching_, tensor.id);
    }
    constexpr void observe(observation const& it) {
        std::uint64_t const watching = watching_[it.tensor.id];
        machines_.each([&](auto& each, std::size_t i) {
            if ((watching >> i & 1) != 0) { each.observe(it); }
        });
    }
    constexpr truth close(step_id step, findings& out) {
        truth answer = truth::no;
        machines_.each(
            [&](auto& each, std::size_t) { answer = disjunction(answer, detail::close_beside(each, step, out)); });
        return answer;
    }
    [[nodiscard]] constexpr bool due(step_id step) const {
        bool found = false;
        machines_.each([&](auto const& each, std::size_t) { found = found || each.due(step); });
        return found;
    }
    static constexpr bool polls = (machine<Rules>::polls || ... || false);
    static constexpr bool reads_times = (machine<Rules>::reads_times || ... || false);
    constexpr void poll(double const& now) {
        machines_.each([&](auto& each, std::size_t) { each.poll(now); });
    }
    template <class Use>
    constexpr void report(Use&& use) const {
        machines_.each([&](auto const& each, std::size_t) { each.report(use); });
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        pattern_fault found;
        machines_.each([&](auto const& each, std::size_t) {
            if (found.empty()) { found = each.malformed(); }
        });
        return found;
    }

private:
    pack<machine<Rules>...> machines_;
    slot_array<std::uint64_t> watching_;  // by tensor id: bits of the rules that need the tensor
};

}  // namespace spotter::inline SPOTTER_ABI
