// SPDX-License-Identifier: Apache-2.0
// For programs that are compiled with SPOTTER_SEPARATE and do not link spotter::compiled. Exactly one file includes
// this header, before any other header of spotter. That file holds the bodies of the headers below, and of every header
// of spotter that it includes afterwards (spotter/report.hpp, say).
#pragma once

#if !defined(SPOTTER_SEPARATE)
#error "spotter: spotter/implementation.hpp is for programs all of whose files are compiled with -DSPOTTER_SEPARATE"
#endif

#include <spotter/config.hpp>

#undef SPOTTER_BODIES
#define SPOTTER_BODIES 1
#define SPOTTER_BODY

#include <spotter/print.hpp>
#include <spotter/replay.hpp>
#include <spotter/response.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
