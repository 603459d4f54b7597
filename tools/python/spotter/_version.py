# SPDX-License-Identifier: Apache-2.0
"""The version of the library that this package belongs to (include/spotter/version.hpp)."""

__version__ = "0.2.0"
