// SPDX-License-Identifier: Apache-2.0
// CMake needs a source file for a target whose header it precompiles.
