// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a training loss that oscillates without progress. docs/rules.md#oscillating_loss
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/builtin/median.hpp>

namespace spotter::inline SPOTTER_ABI {

// Over the last `window` finite training losses, warning when all of these hold. More than `flips` of the differences
// change sign. The 90th percentile is above the 10th by more than `amplitude` times |L0|. The mean of the newer half is
// not below that of the older by `progress` of it. Minibatch noise alone changes the sign of two differences in three;
// `flips` is well above that. Each loss is judged separately; a rewind clears the window. Train steps only.
struct oscillating_loss {
    using kind = rule_kind;
    static constexpr std::string_view name = "oscillating_loss";
    static constexpr std::string_view remedy = "Halve the learning rate or double the batch.";
    static constexpr mode judged_in = mode::train;

    selector select = role::loss;
    std::uint64_t window = 50;  // losses; at least three
    double flips = 0.85;        // fraction of the pairs of differences
    double amplitude = 0.3;     // times |L0|
    double progress = 0.01;     // fraction of the older half's mean

    struct kept {
        loss_trend trend{};
        recent_values losses;
        std::uint64_t last_step = 0;
    };
    struct scratch {
        slot_array<std::uint64_t> keys;
    };
    struct share_of_flips : judged_value {  // of the last observations
        double swing = 0;                   // 90th percentile of the losses minus the 10th, in their unit
    };
    static constexpr stats_mask watched = stats_mask::sum;
    [[nodiscard]] constexpr bool prepare(kept& mine, scratch& own, tensor_info const&) const noexcept {
        return keep_sortable(mine.losses, window, own.keys);
    }
    [[nodiscard]] constexpr share_of_flips judge(kept& mine, scratch& own, observation const& it) const noexcept {
        measurement const loss = loss_of(it);
        if (!loss.known) { return {}; }
        if (it.step.index < mine.last_step) { mine.losses.clear(); }
        mine.last_step = it.step.index;
        mine.trend.add(loss.value);
        mine.losses.add(loss.value);
        if (!mine.losses.full() || mine.losses.size() < 3) { return {}; }
        double const share = flips_of(mine.losses);
        bool const swings = share > flips;  // rarely true; only then the percentiles are computed
        double const swing = swings ? swing_of(mine.losses, own.keys) : 0;
        bool const holds = swings && is_wide(swing, mine.trend.start()) && !improves(mine.losses);
        return {judged_value{share, holds}, swing};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, share_of_flips const& first) const noexcept {
        finding it =
            who.as_finding("loss swings and gets nowhere", "share of changes of direction", relation::greater, flips);
        it.detail << "over " << window << " losses; from the 10th to the 90th percentile " << first.swing;
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return window < 3 ? "parameter window below 3" : "warm-up not reached: fewer than `window` losses";
    }

private:
    // A difference of zero has no sign and is skipped.
    [[nodiscard]] SPOTTER_STRICT static constexpr double flips_of(recent_values const& losses) noexcept {
        SPOTTER_STRICT_BODY
        std::uint64_t changes = 0;
        int direction = 0;
        double before = losses[0];
        for (std::span<double const> const part : {losses.older(), losses.newer()}) {
            for (double const each : part) {
                int const now = static_cast<int>(each > before) - static_cast<int>(each < before);
                before = each;
                changes += static_cast<std::uint64_t>(now * direction < 0);  // no branch: noise is unpredictable
                direction = now != 0 ? now : direction;
            }
        }
        return static_cast<double>(changes) / static_cast<double>(losses.size() - 2);
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double swing_of(recent_values const& losses,
                                                                  slot_array<std::uint64_t>& room) noexcept {
        SPOTTER_STRICT_BODY
        if (!room.grow(losses.size())) { return 0; }
        std::span<std::uint64_t> const keys{room.data(), losses.size()};
        for (std::size_t i = 0; i < losses.size(); ++i) { keys[i] = detail::key_of(losses[i]); }
        std::array<std::size_t, 2> const ranks{detail::nearest_rank(100, losses.size()),
                                               detail::nearest_rank(900, losses.size())};
        detail::select_ranks(keys, 0, ranks);
        return detail::value_of_key(keys[ranks[1]]) - detail::value_of_key(keys[ranks[0]]);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_wide(double swing, double start) const noexcept {
        SPOTTER_STRICT_BODY
        return swing > amplitude * magnitude(start);
    }
    // Both halves have even length, so that each has as many ups as downs; what is between them is left out.
    [[nodiscard]] SPOTTER_STRICT constexpr bool improves(recent_values const& losses) const noexcept {
        SPOTTER_STRICT_BODY
        std::size_t half = losses.size() / 2;
        half -= half % 2 == 1 && half > 1 ? 1 : 0;
        double const older = losses.mean_of(0, half);
        double const newer = losses.mean_of(losses.size() - half, losses.size());
        double least = progress * magnitude(older);
        force_rounding(least);
        return !(newer > older - least);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
