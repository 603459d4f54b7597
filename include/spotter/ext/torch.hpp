// SPDX-License-Identifier: Apache-2.0
// Ext (L6): libtorch. Includes only the header of at::Tensor; modules are recognised by their methods, so a program
// includes no more of torch than it needs. ext/torch/optimizer.hpp includes torch/optim.h and is not part of this. In a
// file with `using namespace spotter` write torch::Tensor, not at::Tensor: spotter::at is a policy.
#pragma once

#include <spotter/ext/torch/module.hpp>
#include <spotter/ext/torch/tensor.hpp>
