// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a loss or a prediction that does not change. docs/rules.md#unchanged_tensor
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/builtin/retained_copies.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// Selects by role.
[[nodiscard]] constexpr bool losses_and_predictions(tensor_info const& tensor) noexcept {
    return tensor.role == role::loss || tensor.role == role::prediction;
}

}  // namespace select

// Warning (note once training has settled) when the last `num_steps` observations of a tensor are equal. Without
// tolerances it compares the hashes of the bits. With tolerances it compares values: each later a and earlier b satisfy
// |a - b| <= atol + rtol |b|, element by element, and it keeps num_steps - 1 copies. NaN equals nothing, unless
// `equal_nan`. Of several observations of a tensor in a step the first counts. Train steps only.
struct unchanged_tensor {
    using kind = rule_kind;
    static constexpr std::string_view name = "unchanged_tensor";
    static constexpr std::string_view remedy =
        "Check that the tensor is meant to be constant; otherwise look at its producer.";
    static constexpr mode judged_in = mode::train;
    static constexpr bool extracts_from_memory = true;

    selector select = &select::losses_and_predictions;
    std::uint64_t num_steps = 3;  // observations; AWS UnchangedTensor
    double rtol = 0;              // times the earlier value; AWS: 1e-5
    double atol = 0;              // AWS: 1e-8
    bool equal_nan = false;       // AWS

    // AWS's tolerance reports a slowly falling f32 loss as unchanged.
    [[nodiscard]] static constexpr unchanged_tensor sagemaker_defaults() noexcept {
        return {.rtol = 1e-5, .atol = 1e-8};
    }

    struct kept : once_a_step {
        once_a_step copied;
        retained_copies copies;  // read by `extract` only
        std::uint64_t hash = 0;
        std::uint64_t count = 0;  // observations
        std::uint64_t equal = 0;  // observations at the end that are all equal, this one included
    };
    static constexpr bool softens = true;
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        if (!select(tensor)) { return stats_mask::none; }
        return stats_mask::nonfinite | (tolerant() ? stats_mask::feature : stats_mask::hash);
    }
    [[nodiscard]] constexpr bool prepare(kept& mine, tensor_info const& tensor) const noexcept {
        return !tolerant() || mine.copies.keep(num_steps > 0 ? num_steps - 1 : 0, tensor.shape.elements());
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept {
        return key_of(name, num_steps, rtol, atol, equal_nan);
    }
    // Pushes the number of copies, counted from the newest back, that the values agree with. Pushes nothing for an
    // empty tensor and for a second observation in a step.
    constexpr void extract(kept& mine, observation const&, tensor_ref const& values, feature& out) const noexcept {
        if (values.count == 0 || !mine.copied.first(mine.now)) { return; }
        out.push(static_cast<double>(mine.copies.count_agreeing(values, {rtol, atol, equal_nan})));
        if (!mine.copies.add(values)) { out.give_up(); }
    }
    [[nodiscard]] constexpr judged_value judge(kept& mine, observation const& it,
                                               std::span<double const> agreeing) const noexcept {
        bool const at_hand = tolerant() ? !agreeing.empty() : has(it.stats.has, stats_mask::hash);
        if (!at_hand || it.stats.count == 0 || !mine.first()) { return {}; }
        std::uint64_t const before = mine.count++ == 0 ? 0
                                     : tolerant()      ? static_cast<std::uint64_t>(agreeing[0])
                                                       : same_bits(mine, it.stats);
        mine.hash = it.stats.hash;
        // All pairs of a streak agree if each agrees with all before it in the streak.
        mine.equal = before + 1 >= num_steps || before > mine.equal ? mine.equal + 1 : before + 1;
        return mine.count < num_steps ? judged_value{}
                                      : judged_value{static_cast<double>(mine.equal), mine.equal >= num_steps};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding(tolerant() ? "values agree within the tolerance" : "values are the same, bit by bit",
                              "equal observations", relation::greater_equal, static_cast<double>(num_steps));
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "fewer than `num_steps` observations of a tensor";
    }

private:
    [[nodiscard]] constexpr bool tolerant() const noexcept { return rtol > 0 || atol > 0; }
    // All of the streak, or none: equality of bits is transitive.
    [[nodiscard]] constexpr std::uint64_t same_bits(kept const& mine, summary const& now) const noexcept {
        return now.hash == mine.hash && (equal_nan || now.nan == 0) ? mine.equal : 0;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
