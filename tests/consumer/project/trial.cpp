// SPDX-License-Identifier: Apache-2.0
// Compiles and links with the component trial.
#include <spotter/replay.hpp>
#include <spotter/trial.hpp>

int main() {}
