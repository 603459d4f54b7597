// SPDX-License-Identifier: Apache-2.0
// The library's version (semantic). The file format has a version of its own: format/layout.hpp.
#pragma once

#define SPOTTER_VERSION_MAJOR 0
#define SPOTTER_VERSION_MINOR 2
#define SPOTTER_VERSION_PATCH 0
