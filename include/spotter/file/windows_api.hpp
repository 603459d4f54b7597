// SPDX-License-Identifier: Apache-2.0
// File (L1): <windows.h> with as few macros as possible. Only bodies include it: users of spotter::compiled never see
// it.
#pragma once

#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>
