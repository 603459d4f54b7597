// SPDX-License-Identifier: Apache-2.0
// Record (L4): the two clocks: time of day for the record, a steady one for waiting.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

[[nodiscard]] double seconds_since_epoch() noexcept;
[[nodiscard]] std::uint64_t steady_milliseconds() noexcept;
// Differs between runs as good as always: not secret, only distinct.
[[nodiscard]] std::uint64_t make_run_id() noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/clock.ipp>
#endif
