/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs here ask a C++ file to look up in the record that they wrote. */
#ifndef SPOTTER_TESTS_C_READ_BACK_H
#define SPOTTER_TESTS_C_READ_BACK_H

#ifdef __cplusplus
extern "C" {
#endif

/* The element at `i` of a tensor at train(step), as a double; -1e300 where there is none. */
double recorded(const char* path, const char* name, unsigned long step, unsigned long i);
/* The number of closed steps; -1 where that is no run. */
long recorded_steps(const char* path);
/* 1 if the run ended as failed. */
int recorded_failure(const char* path);

#ifdef __cplusplus
}
#endif

#endif
