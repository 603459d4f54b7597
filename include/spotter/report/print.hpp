// SPDX-License-Identifier: Apache-2.0
// Report (L5): what a loop has to say, on the terminal: `if (found) { print(found); }`.
#pragma once

#include <spotter/hook/health.hpp>
#include <spotter/rule/finding.hpp>

#include <cstdio>

namespace spotter::inline SPOTTER_ABI {

// The sentences of spotter/report.hpp and a line break behind them, to standard output or another stream; of an alarm
// without findings nothing. Neither throw nor take memory; what the stream does not take is lost.
void print(step_alarm const& it, std::FILE* into = stdout) noexcept;
void print(finding const& it, std::FILE* into = stdout) noexcept;
void print(error const& it, std::FILE* into = stdout) noexcept;
void print(health_report const& it, std::FILE* into = stdout) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/print.ipp>
#endif
