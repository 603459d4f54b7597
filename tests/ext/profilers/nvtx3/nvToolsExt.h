/* SPDX-License-Identifier: Apache-2.0 */
/* What spotter/ext/nvtx.hpp uses of NVTX 3, for machines without a CUDA toolkit: the two functions, which the test
 * defines. */
#ifndef SPOTTER_TEST_NVTX
#define SPOTTER_TEST_NVTX

extern "C" {
int nvtxRangePushA(char const* message);
int nvtxRangePop(void);
}

#endif
