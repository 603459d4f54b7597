// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/runs_table.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/report/runs_table.hpp moved: spotter/workbench/runs_table.hpp; link spotter::workbench")

#include <spotter/workbench/runs_table.hpp>
