// SPDX-License-Identifier: Apache-2.0
// Compiles and links with the component report.
#include <spotter/report.hpp>

int main() {}
