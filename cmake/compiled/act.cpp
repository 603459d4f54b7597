// SPDX-License-Identifier: Apache-2.0
// spotter::compiled: the bodies of spotter/checkpoints.hpp, spotter/control.hpp, spotter/heal.hpp and
// spotter/rerun.hpp. What is included above implementation.hpp is only declared here.
#include <spotter/export/safetensors.hpp>
#include <spotter/export/text.hpp>
#include <spotter/file/replacing_file.hpp>
#include <spotter/file/system.hpp>
#include <spotter/format/checksum.hpp>
#include <spotter/print.hpp>
#include <spotter/record/clock.hpp>
#include <spotter/record/folder.hpp>
#include <spotter/record/segment_files.hpp>
#include <spotter/replay.hpp>
#include <spotter/response.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <spotter/implementation.hpp>

#include <spotter/act/recorded_checkpoints.hpp>
#include <spotter/checkpoints.hpp>
#include <spotter/control.hpp>
#include <spotter/heal.hpp>
#include <spotter/rerun.hpp>
