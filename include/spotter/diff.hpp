// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that compare trainings. Needs nlohmann_json; diff/zlib_inflate.hpp, which needs zlib, is asked
// for by itself.
#pragma once

#include <spotter/diff/parting.hpp>
#include <spotter/diff/report.hpp>
