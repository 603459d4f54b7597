// SPDX-License-Identifier: Apache-2.0
// Whatever is included of spotter, a big-endian machine is refused, in words.
// expect at once: big-endian machines are not supported
#if !defined(SPOTTER_CONTROL)
#include <spotter/core/step.hpp>
#endif
