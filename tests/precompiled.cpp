// SPDX-License-Identifier: Apache-2.0
// CMake compiles a header ahead for a target, and a target has a source.
