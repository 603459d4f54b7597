// SPDX-License-Identifier: Apache-2.0
// The function bodies, for the variant that compiles them once.
#include <spotter/implementation.hpp>
#ifdef SPOTTER_ODR_REPORT
#include <spotter/report.hpp>
#endif
