// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/diff.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/diff.hpp moved: spotter/workbench/diff.hpp; link spotter::workbench")

#include <spotter/workbench/diff.hpp>
#include <spotter/workbench/parting.hpp>
