// SPDX-License-Identifier: Apache-2.0
// Forward declarations of everything, for headers that only name it.
#pragma once

#include <spotter/export/fwd.hpp>
#include <spotter/record/fwd.hpp>
#include <spotter/replay/fwd.hpp>
#include <spotter/report/fwd.hpp>
