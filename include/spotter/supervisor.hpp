// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that start a training again until an attempt is stable: docs/supervise.md.
#pragma once

#include <spotter/supervise/child_process.hpp>
#include <spotter/supervise/supervise.hpp>
