// SPDX-License-Identifier: Apache-2.0
// Ext (L6): tensors in the memory of an NVIDIA GPU, through CUDA's driver API: docs/device.md.
#pragma once

#include <spotter/ext/cuda/cuda_device.hpp>
