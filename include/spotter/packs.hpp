// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that use whole packs of rules: `hook{"runs/a", keep, packs::supervised}`. Each rule of the
// catalogue has a header of its own; spotter/rules.hpp includes them all.
#pragma once

#include <spotter/diagnosis/packs.hpp>
