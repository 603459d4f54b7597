// SPDX-License-Identifier: Apache-2.0
// Catch2 of either version. Every test includes <tests/catch.hpp> and no Catch2 header of its own.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // version 2 has it there
#else
#include <catch2/catch.hpp>
#endif

#include <cstdio>

// Leaves the test case, which ctest then counts as skipped unless something in it had failed before (tests/catch.cmake
// looks for the words). To be used in the test case itself, not in a function it calls.
#define SPOTTER_SKIP(why)                                                                                              \
    do {                                                                                                               \
        std::printf("SPOTTER_SKIP: %s\n", why);                                                                        \
        std::fflush(stdout);                                                                                           \
        SUCCEED();                                                                                                     \
        return;                                                                                                        \
    } while (false)
