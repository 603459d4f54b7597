// SPDX-License-Identifier: Apache-2.0
// C interface (L6): the implementation with a spotter_create that keeps losses and metrics and takes ten of the
// built-in rules, those of make_c_hook(path). A C++20 file with this one include is all that a C program needs.
#pragma once

#include <spotter/c/implementation.hpp>

extern "C" SPOTTER_C_FUNCTION spotter_hook* spotter_create(char const* path) { return spotter::make_c_hook(path); }
