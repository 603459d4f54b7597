// SPDX-License-Identifier: Apache-2.0
// Compiles and links with the component hook.
#include <spotter/hook.hpp>

int main() {}
