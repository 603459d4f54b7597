// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a hook's sections as zones of the Tracy profiler. The program compiles Tracy's client, with TRACY_ENABLE
// defined; without it zones do nothing. Without tracy/TracyC.h SPOTTER_HAS_TRACY is 0, and tracy_sections does not
// exist.
#pragma once

#include <spotter/hook/sections.hpp>

#if __has_include(<tracy/TracyC.h>)
#define SPOTTER_HAS_TRACY 1

#include <tracy/TracyC.h>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The open zones of a thread; deeper ones are not shown.
struct tracy_zones {
    static constexpr std::size_t most = 32;

    TracyCZoneCtx open[most]{};
    std::size_t depth = 0;
};
inline thread_local tracy_zones tracy_now;

inline void begin_tracy_zone(char const* name) noexcept {
    if (tracy_now.depth < tracy_zones::most) {
        TracyCZone(zone, 1);
        TracyCZoneName(zone, name, std::strlen(name));
        tracy_now.open[tracy_now.depth] = zone;
    }
    ++tracy_now.depth;
}
inline void end_tracy_zone() noexcept {
    if (tracy_now.depth == 0) { return; }
    if (--tracy_now.depth < tracy_zones::most) { TracyCZoneEnd(tracy_now.open[tracy_now.depth]); }
}

}  // namespace detail

// `hook watch{"runs/a", plan, options{.sections = &tracy_sections}}`.
inline constexpr section_observer tracy_sections{&detail::begin_tracy_zone, &detail::end_tracy_zone};

}  // namespace spotter::inline SPOTTER_ABI

#else
#define SPOTTER_HAS_TRACY 0
#endif
