// SPDX-License-Identifier: Apache-2.0
#include <spotter/ext/xtensor.hpp>

int main() {}
