// SPDX-License-Identifier: Apache-2.0
// Catch2, version 2 or 3. Every test includes <tests/catch.hpp> and no header of Catch2.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // version 2 has it there
#else
#include <catch2/catch.hpp>
#endif

#include <cstdio>

// Leaves the test case. ctest counts it as skipped unless something in it failed before (tests/catch.cmake looks for
// the words). Use it in the test case itself, not in a function that it calls.
#define SPOTTER_SKIP(why)                                                                                              \
    do {                                                                                                               \
        std::printf("SPOTTER_SKIP: %s\n", why);                                                                        \
        std::fflush(stdout);                                                                                           \
        SUCCEED();                                                                                                     \
        return;                                                                                                        \
    } while (false)
