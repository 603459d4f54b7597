// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a target network that always equals the online one, or never follows it.
// docs/rules.md#rl_target_network
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/hashed_pairs.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>

namespace spotter::inline SPOTTER_ABI {

// Compares `target/X` with `online/X` or `X`; likewise `X_target`, `target_X` and `target.X`, also inside a name. An
// update is a step in which the online tensor changed since the pair was last observed; the first observation counts as
// one. Warning when both have the same bits for more than `allow_equal` updates in a row, or when the target has the
// same bits for `patience` updates. Steps in which only one of the pair is observed, or one is not finite, decide
// nothing. Train steps only.
struct rl_target_network {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_target_network";
    static constexpr std::string_view remedy =
        "Check the environment's reward, reset and observation scaling, or the target update.";
    static constexpr mode judged_in = mode::train;
    // Which of the two holds.
    enum condition : std::uint8_t { equals_online = 1, stays_behind };

    selector select = &select::target_parameters;
    std::uint64_t patience = 100;   // updates; more than between two hard copies
    std::uint64_t allow_equal = 1;  // updates

    struct series {                            // of one target and its online net
        bool known = false;                    // both were observed before
        std::uint64_t target = 0, online = 0;  // hashes
        std::uint64_t equal = 0, stale = 0;    // updates
    };
    struct state {
        per_tensor<series> all;  // by the target's id
        hashed_pairs pairs;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? hashed_pairs::needs : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        bool const parameter = tensor.role == role::weight || tensor.role == role::bias;
        return parameter && !select(tensor) ? hashed_pairs::needs : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.all.declare(tensor) != nullptr && seen.pairs.declare(tensor, select(tensor), &is_target_of);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode == mode::train) { seen.pairs.observe(it); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        violation equal, stale;
        bool judged = false;
        seen.pairs.close(
            [&](tensor_id id, std::string_view tensor, std::uint64_t target, tensor_id, std::uint64_t online) {
                if (seen.all.find(id) == nullptr) { return; }
                series& mine = seen.all[id];
                if (mine.known && mine.online == online) { return; }  // no update
                bool const stays = mine.known && mine.target == target;
                mine = {true, target, online, target == online ? mine.equal + 1 : 0, stays ? mine.stale + 1 : 0};
                judged = true;
                if (mine.equal > allow_equal) { equal.blame(tensor, static_cast<double>(mine.equal)); }
                if (mine.stale > 0 && mine.stale >= patience) { stale.blame(tensor, static_cast<double>(mine.stale)); }
            });
        equal.tell(out, {"target equals online", equals_online}, "updates with equal bits", relation::greater,
                   static_cast<double>(allow_equal));
        stale.tell(out, {"target does not follow", stays_behind}, "updates without a change", relation::greater_equal,
                   static_cast<double>(patience));
        return equal.count + stale.count > 0 ? truth::yes : judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "no target was seen together with the online tensor of its name";
    }

    // Whether the names form a pair.
    [[nodiscard]] static constexpr bool is_target_of(std::string_view target, std::string_view online) noexcept {
        constexpr std::string_view word = "target";
        for (std::size_t at = target.find(word); at != target.npos; at = target.find(word, at + 1)) {
            std::string_view const head = target.substr(0, at), tail = target.substr(at + word.size());
            if (joined(online, head, "online", tail)) { return true; }
            bool const parts_after = !tail.empty() && (tail[0] == '/' || tail[0] == '.' || tail[0] == '_');
            if (parts_after && joined(online, head, "", tail.substr(1))) { return true; }
            bool const parts_before = !head.empty() && head.back() == '_';
            if (parts_before && joined(online, head.substr(0, head.size() - 1), "", tail)) { return true; }
        }
        return false;
    }

private:
    [[nodiscard]] static constexpr bool joined(std::string_view whole, std::string_view head, std::string_view middle,
                                               std::string_view tail) noexcept {
        if (whole.size() != head.size() + middle.size() + tail.size() || !whole.starts_with(head)) { return false; }
        return whole.substr(head.size()).starts_with(middle) && whole.ends_with(tail);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
