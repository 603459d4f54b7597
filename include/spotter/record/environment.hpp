// SPDX-License-Identifier: Apache-2.0
// Record (L4): what a program was built with and runs on, as its record says it.
#pragma once

#include <spotter/config.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Lines of "key value": compiler, flags, target (the instructions that it was compiled for), processor, cores, memory,
// system, threads (what the environment says of them). Found out once a process; a few hundred bytes. What cannot be
// had is missing. With spotter::compiled the first three are of that part, which is built with the flags of the build.
[[nodiscard]] std::string_view environment_of_program() noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/environment.ipp>
#endif
