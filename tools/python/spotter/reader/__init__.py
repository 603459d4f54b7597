# SPDX-License-Identifier: Apache-2.0
"""Reads the format of docs/format.md. Nothing here is promised to a caller: what is, is in `spotter`."""
