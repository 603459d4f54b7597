// SPDX-License-Identifier: Apache-2.0
// expect: spotter: a result is not copied
#include <spotter/core/result.hpp>

#ifdef SPOTTER_CONTROL
int read(spotter::result<int> const& it) { return it.value(); }
#else
int read(spotter::result<int> const& it) {
    auto const copy = it;
    return copy.value();
}
#endif
