/* SPDX-License-Identifier: Apache-2.0 */
/* What spotter/ext/tracy.hpp uses of Tracy's C interface, for machines without it: the macros, on functions that the
 * test defines. */
#ifndef SPOTTER_TEST_TRACY
#define SPOTTER_TEST_TRACY

#include <cstddef>

struct test_zone {
    unsigned id;
    int active;
};
typedef test_zone TracyCZoneCtx;

test_zone begin_test_zone();
void name_test_zone(test_zone zone, char const* name, std::size_t size);
void end_test_zone(test_zone zone);

#define TracyCZone(ctx, active) TracyCZoneCtx ctx = begin_test_zone();
#define TracyCZoneName(ctx, text, size) name_test_zone(ctx, text, size);
#define TracyCZoneEnd(ctx) end_test_zone(ctx);

#endif
