// SPDX-License-Identifier: Apache-2.0
// Umbrella for loops that apply cures by themselves: docs/act.md.
#pragma once

#include <spotter/act/heal.hpp>
