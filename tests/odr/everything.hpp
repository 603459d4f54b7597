// SPDX-License-Identifier: Apache-2.0
// The umbrella headers, for both translation units.
#pragma once

#include <spotter/replay.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#ifdef SPOTTER_ODR_REPORT
#include <spotter/report.hpp>
#endif
