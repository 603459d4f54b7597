// SPDX-License-Identifier: Apache-2.0
// The headers of libtorch that the studies need, precompiled once for all (CMakeLists.txt).
#pragma once

#include <torch/nn.h>
#include <torch/optim.h>
