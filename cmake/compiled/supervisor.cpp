// SPDX-License-Identifier: Apache-2.0
// spotter::compiled: the bodies of spotter/supervisor.hpp. What is included above implementation.hpp is only declared
// here.
#include <spotter/file/windows_process.hpp>
#include <spotter/print.hpp>
#include <spotter/replay.hpp>
#include <spotter/report/sentence.hpp>
#include <spotter/response.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <spotter/implementation.hpp>

#include <spotter/supervisor.hpp>
