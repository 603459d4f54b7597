// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/self_test.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/replay/self_test.hpp moved: spotter/workbench/self_test.hpp; link spotter::workbench")

#include <spotter/workbench/self_test.hpp>
