# SPDX-License-Identifier: Apache-2.0
# A test's stand-in, where there is no network: the system's own zstd is found instead.
set(VCPKG_POLICY_EMPTY_PACKAGE enabled)
