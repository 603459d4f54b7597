// SPDX-License-Identifier: Apache-2.0
#include <spotter/replay.hpp>
#include <spotter/trial.hpp>

int main() {}
