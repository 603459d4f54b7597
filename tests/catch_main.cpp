// SPDX-License-Identifier: Apache-2.0
// The main function of every test executable, if no library has one (tests/catch.cmake).
#define CATCH_CONFIG_MAIN
#include <tests/catch.hpp>
