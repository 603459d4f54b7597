// SPDX-License-Identifier: Apache-2.0
// The one C++20 file of a program that uses the default plan and rules.
#include <spotter/c/defaults.hpp>
