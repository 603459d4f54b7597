// SPDX-License-Identifier: Apache-2.0
// Core (L0): what a linker says where the files of a program do not fit together: the names below are the message.
#pragma once

#include <spotter/config.hpp>

#if defined(__ELF__) && defined(__GNUC__)
namespace spotter {

// Files of both modes have nothing of spotter's in common, and would link as long as they exchange nothing. No linker
// takes a name that is a thread's own variable in one file and everybody's in another, though. Hidden: shared libraries
// are on their own.
#if defined(SPOTTER_SEPARATE)
__attribute__((used, visibility("hidden"))) inline constinit thread_local char
    files_with_and_without_SPOTTER_SEPARATE_cannot_be_linked_together = 0;
#else
__attribute__((
    used,
    visibility("hidden"))) inline constinit char files_with_and_without_SPOTTER_SEPARATE_cannot_be_linked_together = 0;
#endif

}  // namespace spotter
#endif

#if defined(SPOTTER_SEPARATE)
namespace spotter::inline SPOTTER_ABI {

// Stands where the bodies are.
extern char const link_spotter_compiled_or_include_spotter_implementation_hpp_in_one_file;
#if defined(__GNUC__)
__attribute__((used)) static char const* const bodies_stand_elsewhere =
    &link_spotter_compiled_or_include_spotter_implementation_hpp_in_one_file;
#endif

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/link.ipp>
#endif
#endif
