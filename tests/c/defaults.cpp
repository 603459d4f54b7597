// SPDX-License-Identifier: Apache-2.0
// All that a program needs that is content with the default plan and rules.
#include <spotter/c/defaults.hpp>
