// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/npy.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/export/npy.hpp moved: spotter/workbench/npy.hpp; link spotter::workbench")

#include <spotter/workbench/npy.hpp>
