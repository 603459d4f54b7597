// SPDX-License-Identifier: Apache-2.0
// The same in C++ older than the library.
#include "header.c"
