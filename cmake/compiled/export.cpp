// SPDX-License-Identifier: Apache-2.0
// spotter::compiled: the bodies of exports. What is included above implementation.hpp is only declared here.
#include <spotter/format/checksum.hpp>
#include <spotter/print.hpp>
#include <spotter/replay.hpp>
#include <spotter/response.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <spotter/implementation.hpp>

#include <spotter/export/follow_run.hpp>
#include <spotter/export/safetensors.hpp>
#include <spotter/export/tensorboard.hpp>
#include <spotter/export/tensorboard_sink.hpp>
