// SPDX-License-Identifier: Apache-2.0
// spotter::compiled: the bodies of spotter/preflight.hpp. What is included above implementation.hpp is only declared
// here.
#include <spotter/print.hpp>
#include <spotter/replay.hpp>
#include <spotter/response.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <spotter/implementation.hpp>

#include <spotter/preflight.hpp>
