// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/saliency.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/trial/saliency.hpp moved: spotter/workbench/saliency.hpp; link spotter::workbench")

#include <spotter/workbench/saliency.hpp>
