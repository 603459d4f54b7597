// SPDX-License-Identifier: Apache-2.0
// What the studies use of libtorch; compiled once for all of them (CMakeLists.txt).
#pragma once

#include <torch/nn.h>
#include <torch/optim.h>
