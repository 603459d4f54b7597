// SPDX-License-Identifier: Apache-2.0
// The main function of every test executable, where no library brings one (tests/catch.cmake).
#define CATCH_CONFIG_MAIN
#include <tests/catch.hpp>
