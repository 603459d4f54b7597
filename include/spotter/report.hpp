// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that say in words what was found, in whole runs too (needs fmt). A loop that prints findings
// does with spotter/print.hpp, which needs nothing.
#pragma once

#include <spotter/print.hpp>
#include <spotter/report/describe.hpp>
#include <spotter/report/format.hpp>
#include <spotter/report/health.hpp>
#include <spotter/report/summary.hpp>
