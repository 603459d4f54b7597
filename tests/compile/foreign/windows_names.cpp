// SPDX-License-Identifier: Apache-2.0
// <windows.h> with all its macros (near, far, small, min, max, ERROR), included before spotter, or after it
// (SPOTTER_WINDOWS_LAST). CMakeLists.txt compiles this for Windows.
#if !defined(SPOTTER_WINDOWS_LAST)
#include <winsock2.h>

#include <windows.h>

#include <ole2.h>
#endif

#include <spotter/checkpoints.hpp>
#include <spotter/control.hpp>
#include <spotter/export/safetensors.hpp>
#include <spotter/export/tensorboard.hpp>
#include <spotter/ext/system.hpp>
#include <spotter/heal.hpp>
#include <spotter/packs.hpp>
#include <spotter/preflight.hpp>
#include <spotter/print.hpp>
#include <spotter/replay.hpp>
#include <spotter/rerun.hpp>
#include <spotter/response.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/supervisor.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/export.hpp>
#include <spotter/workbench/npy.hpp>
#include <spotter/workbench/parquet.hpp>

#if defined(SPOTTER_WINDOWS_LAST)
#include <windows.h>
#endif

namespace sp = spotter;

bool judged() {
    using namespace sp::literals;
    constexpr auto rules = (sp::any("grad/*", sp::l2 > 1e3) || sp::all("*", sp::mean_abs < 1e-7)) | sp::for_steps{3};
    sp::hook watch{sp::plan{sp::collection{"all", "*", sp::every{10}, sp::payload}}, sp::on(rules, sp::stop)};
    return watch.step(sp::train(0), "x"_t = 1.0).decision() == sp::decision::stop;
}
