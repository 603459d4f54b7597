// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that send requests to a running training: docs/act.md.
#pragma once

#include <spotter/act/ask_run.hpp>
