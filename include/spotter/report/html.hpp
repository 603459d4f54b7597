// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/page.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/report/html.hpp moved: spotter/workbench/page.hpp; link spotter::workbench")

#include <spotter/workbench/page.hpp>
