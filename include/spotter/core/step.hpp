// SPDX-License-Identifier: Apache-2.0
// Core (L0): identifies an iteration of the loop: a mode and the user's index within it.
#pragma once

#include <spotter/core/fwd.hpp>

#include <compare>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The phase of a step. The values are part of the file format.
enum class mode : std::uint8_t { train = 0, eval = 1, predict = 2 };
// The number of modes, for arrays by `index_of`.
inline constexpr std::size_t mode_count = 3;

[[nodiscard]] constexpr std::string_view name_of(mode which) noexcept {
    constexpr std::string_view names[] = {"train", "eval", "predict"};
    return names[static_cast<std::size_t>(which)];
}
// 0 to mode_count - 1.
[[nodiscard]] constexpr std::size_t index_of(mode which) noexcept { return static_cast<std::size_t>(which); }

// `index` counts within its mode and need not be contiguous; an index that does not increase is a rewind.
struct step_id {
    spotter::mode mode = mode::train;  // the phase
    std::uint64_t index = 0;           // the loop's number of the step within the mode

    friend constexpr auto operator<=>(step_id const&, step_id const&) noexcept = default;
};

// A step of training: `watch.step(train(i), ...)`.
[[nodiscard]] constexpr step_id train(std::uint64_t index) noexcept { return {mode::train, index}; }
// A step of evaluation.
[[nodiscard]] constexpr step_id eval(std::uint64_t index) noexcept { return {mode::eval, index}; }
// A step of inference.
[[nodiscard]] constexpr step_id predict(std::uint64_t index) noexcept { return {mode::predict, index}; }

// The name of step durations for rules, in seconds: each from the previous close in any mode to this one.
inline constexpr std::string_view step_time_name = "time/step";

// When a step was begun and closed, by the training thread's clock, in seconds from an arbitrary zero.
struct step_moments {
    double begun = 0, closed = 0;  // in seconds
};

}  // namespace spotter::inline SPOTTER_ABI
