// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that say in words what was found (needs fmt).
#pragma once

#include <spotter/report/describe.hpp>
#include <spotter/report/health.hpp>
#include <spotter/report/summary.hpp>
