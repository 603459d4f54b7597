// SPDX-License-Identifier: Apache-2.0
// expect: behind its plan a hook takes rules and options
#include <spotter/hook.hpp>

using namespace spotter;

#ifdef SPOTTER_CONTROL
hook watch{plan{}, any("*", l2 > 3.0)};
#else
hook watch{plan{}, l2 > 3.0};
#endif

int main() {}
