// SPDX-License-Identifier: Apache-2.0
// What most tests include, compiled once for each set of flags (tests/catch.cmake). No file includes this one: a test
// includes what it uses. It includes no header of spotter: those names would clash in tests that say `using namespace
// spotter` and include only a part.
#pragma once

#include <tests/catch.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>
