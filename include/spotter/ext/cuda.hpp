// SPDX-License-Identifier: Apache-2.0
// Ext (L6): tensors in the memory of an NVIDIA GPU, by CUDA's driver alone: docs/device.md.
#pragma once

#include <spotter/ext/cuda/cuda_device.hpp>
