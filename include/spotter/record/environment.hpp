// SPDX-License-Identifier: Apache-2.0
// Record (L4): the environment of a program for its record: build and machine.
#pragma once

#include <spotter/config.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Lines of "key value": compiler, flags, target (the instruction set that it was compiled for), processor, cores,
// memory, system, threads (environment variables about them). Determined once in a process; a few hundred bytes.
// Unknown lines are missing. With spotter::compiled the first three describe the compiled library.
[[nodiscard]] std::string_view environment_of_program() noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/environment.ipp>
#endif
