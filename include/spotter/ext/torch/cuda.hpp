// SPDX-License-Identifier: Apache-2.0
// Ext (L6): the stream that libtorch works in, for a device (ext/cuda.hpp): needs CUDA's runtime headers and a libtorch
// that was built with CUDA.
#pragma once

#include <spotter/config.hpp>

#include <c10/cuda/CUDAStream.h>

namespace spotter::inline SPOTTER_ABI {

// `cuda_device gpu{{.current_stream = &spotter::torch_stream}};`. Only a program that works in other streams than the
// default one needs it.
[[nodiscard]] inline void* torch_stream(int ordinal) noexcept {
    try {
        return ::c10::cuda::getCurrentCUDAStream(static_cast<::c10::DeviceIndex>(ordinal)).stream();
    } catch (...) { return nullptr; }
}

}  // namespace spotter::inline SPOTTER_ABI
