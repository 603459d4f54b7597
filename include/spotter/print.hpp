// SPDX-License-Identifier: Apache-2.0
// Umbrella for a loop that says what was found: `if (found) { print(found); }`. No third party behind it; who wants
// `fmt::print`, or whole runs in words, includes spotter/report.hpp.
#pragma once

#include <spotter/report/print.hpp>
