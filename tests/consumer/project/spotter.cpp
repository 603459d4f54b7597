// SPDX-License-Identifier: Apache-2.0
#include <spotter/spotter.hpp>

int main() {}
