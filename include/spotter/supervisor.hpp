// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that run a training as attempts until one is stable: docs/supervise.md.
#pragma once

#include <spotter/supervise/child_process.hpp>
#include <spotter/supervise/supervise.hpp>
