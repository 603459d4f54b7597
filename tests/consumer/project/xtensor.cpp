// SPDX-License-Identifier: Apache-2.0
// Compiles and links with the component xtensor.
#include <spotter/ext/xtensor.hpp>

int main() {}
