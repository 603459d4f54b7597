// SPDX-License-Identifier: Apache-2.0
// One of two translation units that include everything: linking them is the test.
#include "everything.hpp"

int two();

int main() { return two(); }
