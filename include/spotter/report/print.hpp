// SPDX-License-Identifier: Apache-2.0
// Report (L5): prints findings: `if (found) { print(found); }`.
#pragma once

#include <spotter/hook/health.hpp>
#include <spotter/rule/finding.hpp>

#include <cstdio>

namespace spotter::inline SPOTTER_ABI {

// Prints the sentences of spotter/report.hpp with a final line break, to standard output or another stream; nothing for
// an alarm without findings. Does not throw or allocate; output that the stream rejects is lost.
void print(step_alarm const& it, std::FILE* into = stdout) noexcept;
void print(finding const& it, std::FILE* into = stdout) noexcept;
void print(error const& it, std::FILE* into = stdout) noexcept;
void print(health_report const& it, std::FILE* into = stdout) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/print.ipp>
#endif
