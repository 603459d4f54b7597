// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/ranks.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/report/ranks.hpp moved: spotter/workbench/ranks.hpp; link spotter::workbench")

#include <spotter/workbench/ranks.hpp>
