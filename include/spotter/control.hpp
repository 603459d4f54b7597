// SPDX-License-Identifier: Apache-2.0
// Umbrella for who asks something of a run that goes on: docs/act.md.
#pragma once

#include <spotter/act/ask_run.hpp>
