// SPDX-License-Identifier: Apache-2.0
// Moved: spotter/workbench/runs_table.hpp.
#pragma once

#pragma message(                                                                                                       \
    "spotter/report/runs_table.hpp moved to spotter/workbench/runs_table.hpp; link spotter::workbench. This header is removed after one release.")

#include <spotter/workbench/runs_table.hpp>
