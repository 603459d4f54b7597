// SPDX-License-Identifier: Apache-2.0
#include <spotter/implementation.hpp>
#ifdef SPOTTER_ODR_REPORT
#include <spotter/report.hpp>
#endif
