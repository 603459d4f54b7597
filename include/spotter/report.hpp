// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that describe findings and whole runs in words (needs fmt). A loop that only prints findings
// needs just spotter/print.hpp, which has no dependency.
#pragma once

#include <spotter/print.hpp>
#include <spotter/report/describe.hpp>
#include <spotter/report/format.hpp>
#include <spotter/report/health.hpp>
#include <spotter/report/summary.hpp>
