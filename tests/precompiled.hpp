// SPDX-License-Identifier: Apache-2.0
// What most tests include, compiled once a set of flags (tests/catch.cmake). No file includes this one: a test includes what it uses.
#pragma once

#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>

#include <filesystem>
#include <fstream>
#include <map>
