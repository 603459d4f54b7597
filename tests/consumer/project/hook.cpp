// SPDX-License-Identifier: Apache-2.0
#include <spotter/hook.hpp>

int main() {}
