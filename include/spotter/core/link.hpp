// SPDX-License-Identifier: Apache-2.0
// Core (L0): linker errors for a program whose files do not fit together: the symbol names below are the message.
#pragma once

#include <spotter/config.hpp>

#if defined(__ELF__) && defined(__GNUC__)
namespace spotter {

// Files of both modes share no symbol of spotter, and would link as long as they exchange no object. This symbol
// prevents that: no linker accepts a name that is thread-local in one file and global in another. Hidden: each shared
// library may have its own mode.
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

// Defined in the file with the bodies.
extern char const link_spotter_compiled_or_include_spotter_implementation_hpp_in_one_file;
#if defined(__GNUC__)
__attribute__((used)) static char const* const bodies_stand_elsewhere =
    &link_spotter_compiled_or_include_spotter_implementation_hpp_in_one_file;
#endif

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

char const link_spotter_compiled_or_include_spotter_implementation_hpp_in_one_file = 0;

}  // namespace spotter::inline SPOTTER_ABI
#endif
#endif
