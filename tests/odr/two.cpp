// SPDX-License-Identifier: Apache-2.0
// The other of the two translation units.
#include "everything.hpp"

int two();
int two() { return 0; }
