// SPDX-License-Identifier: Apache-2.0
// Core (L0): which repetition of the loop: a mode and the user's own index within it.
#pragma once

#include <spotter/core/fwd.hpp>

#include <compare>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// What a step is of. The values are part of the file format.
enum class mode : std::uint8_t { train = 0, eval = 1, predict = 2 };
// How many there are, for arrays by `index_of`.
inline constexpr std::size_t mode_count = 3;

[[nodiscard]] constexpr std::string_view name_of(mode which) noexcept {
    constexpr std::string_view names[] = {"train", "eval", "predict"};
    return names[static_cast<std::size_t>(which)];
}
// 0 to mode_count - 1.
[[nodiscard]] constexpr std::size_t index_of(mode which) noexcept { return static_cast<std::size_t>(which); }

// `index` counts within its mode and need not be contiguous; an index that does not increase is a rewind.
struct step_id {
    spotter::mode mode = mode::train;  // in which `index` counts
    std::uint64_t index = 0;           // the loop's own number

    friend constexpr auto operator<=>(step_id const&, step_id const&) noexcept = default;
};

// A step of training, of evaluation, of a net in service: `watch.step(train(i), ...)`.
[[nodiscard]] constexpr step_id train(std::uint64_t index) noexcept { return {mode::train, index}; }
// Of evaluation.
[[nodiscard]] constexpr step_id eval(std::uint64_t index) noexcept { return {mode::eval, index}; }
// Of a net in service.
[[nodiscard]] constexpr step_id predict(std::uint64_t index) noexcept { return {mode::predict, index}; }

// The name under which rules see how long steps take, in seconds: each from the close before it, whatever its mode.
inline constexpr std::string_view step_time_name = "time/step";

// When a step was begun and when it was closed, by the clock of the thread that trains: seconds from a zero of that
// clock's own.
struct step_moments {
    double begun = 0, closed = 0;  // in seconds
};

}  // namespace spotter::inline SPOTTER_ABI
