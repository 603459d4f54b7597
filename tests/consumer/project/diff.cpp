// SPDX-License-Identifier: Apache-2.0
#include <spotter/diff.hpp>

int main() { return spotter::open_side("no such run") ? 1 : 0; }
