// SPDX-License-Identifier: Apache-2.0
// Moved: spotter/workbench/page.hpp.
#pragma once

#pragma message(                                                                                                       \
    "spotter/report/html.hpp moved to spotter/workbench/page.hpp; link spotter::workbench. This header is removed after one release.")

#include <spotter/workbench/page.hpp>
