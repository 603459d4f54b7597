// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a hook's sections as NVTX ranges, so that Nsight Systems shows them under the same names. NVTX 3 is a
// header of the CUDA toolkit that needs no linking. Without the header SPOTTER_HAS_NVTX is 0, and nvtx_sections does
// not exist.
#pragma once

#include <spotter/hook/sections.hpp>

#if __has_include(<nvtx3/nvToolsExt.h>)
#define SPOTTER_HAS_NVTX 1

#include <nvtx3/nvToolsExt.h>

namespace spotter::inline SPOTTER_ABI {

// `hook watch{"runs/a", plan, options{.sections = &nvtx_sections}}`.
inline constexpr section_observer nvtx_sections{[](char const* name) noexcept { (void)::nvtxRangePushA(name); },
                                                []() noexcept { (void)::nvtxRangePop(); }};

}  // namespace spotter::inline SPOTTER_ABI

#else
#define SPOTTER_HAS_NVTX 0
#endif
