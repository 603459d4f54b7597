// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/export.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/export/csv.hpp moved: spotter/workbench/export.hpp; link spotter::workbench")

#include <spotter/workbench/export.hpp>
