// SPDX-License-Identifier: Apache-2.0
// Compiles and links with the component spotter.
#include <spotter/spotter.hpp>

int main() {}
