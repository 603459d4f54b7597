// SPDX-License-Identifier: Apache-2.0
// The header alone, twice, in C++ older than C++20.
#include "header.c"
