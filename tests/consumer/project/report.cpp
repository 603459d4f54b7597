// SPDX-License-Identifier: Apache-2.0
#include <spotter/report.hpp>

int main() {}
