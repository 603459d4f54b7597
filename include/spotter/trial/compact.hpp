// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/compact.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/trial/compact.hpp moved: spotter/workbench/compact.hpp; link spotter::workbench")

#include <spotter/workbench/compact.hpp>
