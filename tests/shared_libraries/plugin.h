/* SPDX-License-Identifier: Apache-2.0 */
/* What the program calls in each of the libraries; found by name, so both may have the same. */
#ifndef SPOTTER_TESTS_PLUGIN_H
#define SPOTTER_TESTS_PLUGIN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Starts a hook that records into `folder`; a rule of it fires above `limit`. 0 where one is running already. */
typedef int plugin_start(char const* folder, double limit);
/* Observes `value` under `name` at the step; how many findings there were, or -1 without a hook. */
typedef int plugin_step(unsigned long step, char const* name, double value);
/* Ends it; 1 where all was recorded. */
typedef int plugin_finish(void);

#ifdef __cplusplus
}
#endif
#endif
