// SPDX-License-Identifier: Apache-2.0
// Umbrella for a loop that prints findings: `if (found) { print(found); }`. Includes no third-party header. For
// `fmt::print`, and for whole runs in words, include spotter/report.hpp.
#pragma once

#include <spotter/report/print.hpp>
