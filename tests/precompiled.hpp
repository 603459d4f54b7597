// SPDX-License-Identifier: Apache-2.0
// What most tests include, compiled once a set of flags (tests/catch.cmake). No file includes this one: a test includes
// what it uses. Nothing of spotter's: its names would meet those of tests that say `using namespace spotter` and
// include a part of it.
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
