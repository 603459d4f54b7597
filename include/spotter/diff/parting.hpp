// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/parting.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/diff/parting.hpp moved: spotter/workbench/parting.hpp; link spotter::workbench")

#include <spotter/workbench/parting.hpp>
