// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a hook's sections as NVTX ranges, so that Nsight Systems shows them under the same names. NVTX 3 is a
// header of the CUDA toolkit, and nothing has to be linked; where it is not found, SPOTTER_HAS_NVTX is 0 and there are
// no nvtx_sections.
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
