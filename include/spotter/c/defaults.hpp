// SPDX-License-Identifier: Apache-2.0
// C interface (L6): the implementation with a spotter_create that keeps losses and metrics and uses ten of the built-in
// rules, those of make_c_hook(path). A C program needs one C++20 file that includes only this header.
#pragma once

#include <spotter/c/implementation.hpp>

extern "C" SPOTTER_C_FUNCTION spotter_hook* spotter_create(char const* path) { return spotter::make_c_hook(path); }
