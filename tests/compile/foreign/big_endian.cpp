// SPDX-License-Identifier: Apache-2.0
// Any include of spotter on a big-endian machine is refused with a sentence.
// expect at once: big-endian machines are not supported
#if !defined(SPOTTER_CONTROL)
#include <spotter/core/step.hpp>
#endif
