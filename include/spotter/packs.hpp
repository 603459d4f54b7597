// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that take rules by the pack: `hook{"runs/a", keep, packs::supervised}`. One rule of the
// catalogue is had by its own header, all of them by spotter/rules.hpp.
#pragma once

#include <spotter/diagnosis/packs.hpp>
