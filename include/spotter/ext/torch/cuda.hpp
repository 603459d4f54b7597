// SPDX-License-Identifier: Apache-2.0
// Ext (L6): libtorch's current stream, for a device (ext/cuda.hpp). Needs CUDA's runtime headers and a libtorch that
// was built with CUDA.
#pragma once

#include <spotter/config.hpp>

#if __has_include(<c10/cuda/impl/cuda_cmake_macros.h>)
#include <c10/cuda/CUDAStream.h>
#define SPOTTER_TORCH_HAS_CUDA
#endif

namespace spotter::inline SPOTTER_ABI {

// `cuda_device gpu{{.current_stream = &spotter::torch_stream}};`. Only needed by programs that use other streams than
// the default one.
#if defined(SPOTTER_TORCH_HAS_CUDA)
[[nodiscard]] inline void* torch_stream(int ordinal) noexcept {
    try {
        return ::c10::cuda::getCurrentCUDAStream(static_cast<::c10::DeviceIndex>(ordinal)).stream();
    } catch (...) { return nullptr; }
}
#else
void* torch_stream(int ordinal) = delete;  // this libtorch was built without CUDA
#endif

}  // namespace spotter::inline SPOTTER_ABI

#undef SPOTTER_TORCH_HAS_CUDA
