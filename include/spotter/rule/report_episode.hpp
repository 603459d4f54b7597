// SPDX-License-Identifier: Apache-2.0
// Rule (L2): whether a condition that persists is reported again. The adaptors rearm, cooldown and once use it, the
// episodes of a pack, and findings that follow from non-finite values. They differ in when an episode ends.
#pragma once

#include <spotter/core/step.hpp>

#include <cstddef>

namespace spotter::inline SPOTTER_ABI::detail {

// The level at which a condition is reported. Each level is reported once an episode.
enum class report_level : std::uint8_t { note = 1, alarm = 2 };

// One condition, from the close at which it is reported until it may be reported again.
class report_episode {
public:
    // Whether to report it now: true the first time in this episode.
    [[nodiscard]] constexpr bool report(report_level level = report_level::alarm) noexcept {
        if (is_reported(level)) { return false; }
        reported_ |= static_cast<std::uint8_t>(level);
        closes_ = 0;
        return true;
    }
    [[nodiscard]] constexpr bool is_reported(report_level level = report_level::alarm) const noexcept {
        return (reported_ & static_cast<std::uint8_t>(level)) != 0;
    }
    // Restarts the count of closes that end the episode.
    constexpr void restart() noexcept { closes_ = 0; }
    // Counts one of them; the last one ends the episode.
    constexpr void pass(std::uint64_t closes) noexcept {
        if (reported_ != 0 && ++closes_ >= closes) { end(); }
    }
    constexpr void end() noexcept { reported_ = 0; }

private:
    std::uint64_t closes_ = 0;
    std::uint8_t reported_ = 0;  // the levels, as bits
};

struct episode_per_mode {
    report_episode episodes[mode_count]{};
    [[nodiscard]] constexpr report_episode& of(step_id step) noexcept { return episodes[index_of(step.mode)]; }
};

}  // namespace spotter::inline SPOTTER_ABI::detail
