/* SPDX-License-Identifier: Apache-2.0 */
/* The header alone, twice. */
#include <spotter/c/spotter.h>
#include <spotter/c/spotter.h>

spotter_decision one_step(spotter_hook* watch, const float* values, spotter_uint64 count);

spotter_decision one_step(spotter_hook* watch, const float* values, spotter_uint64 count) {
    spotter_begin(watch, SPOTTER_TRAIN, 0);
    spotter_observe_as(watch, "w", SPOTTER_ROLE_WEIGHT, SPOTTER_FLAG_FROZEN | SPOTTER_BATCH_AXIS(0), SPOTTER_F32, values, 1, &count, 0);
    return spotter_end(watch).decision;
}
