// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/profile.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/report/profile.hpp moved: spotter/workbench/profile.hpp; link spotter::workbench")

#include <spotter/workbench/profile.hpp>
