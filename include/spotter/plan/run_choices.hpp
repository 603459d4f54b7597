// SPDX-License-Identifier: Apache-2.0
// Plan (L2): options of a run from a settings file. hook/options.hpp explains each.
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// The options that a file may set, in the order of `options`. Only the program can set the others (who calls poll(),
// when `step` is called, the worker's number, clock and memory).
enum class run_option : std::uint8_t {
    existing,
    overflow,
    copying,
    disk_sync,
    ring_bytes,
    segment_bytes,
    run_bytes,
    flush_milliseconds,
    compression_level,
    compressors,
    workers,
    keep,
    flight_bytes,
    flight_steps_after,
    ring_in
};
// The number of options.
inline constexpr std::size_t run_option_count = 15;

// A subset of these options with values; an enumerator's is its number. A hook takes them from its plan; they take
// precedence over its `options`.
class run_choices {
public:
    // Sets an option, replacing an earlier value.
    constexpr void set(run_option which, std::int64_t value) noexcept {
        said_ |= mask_of(which);
        values_[static_cast<std::size_t>(which)] = value;
    }
    // Whether the option is set; if not, `[]` returns 0.
    [[nodiscard]] constexpr bool has(run_option which) const noexcept { return (said_ & mask_of(which)) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return said_ == 0; }
    [[nodiscard]] constexpr std::int64_t operator[](run_option which) const noexcept {
        return values_[static_cast<std::size_t>(which)];
    }
    friend constexpr bool operator==(run_choices const&, run_choices const&) noexcept = default;

private:
    [[nodiscard]] static constexpr std::uint32_t mask_of(run_option which) noexcept {
        return std::uint32_t{1} << static_cast<unsigned>(which);
    }
    std::uint32_t said_ = 0;
    std::int64_t values_[run_option_count]{};
};

}  // namespace spotter::inline SPOTTER_ABI
