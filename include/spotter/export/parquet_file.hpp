// SPDX-License-Identifier: Apache-2.0
// Moved to spotter/workbench/parquet.hpp; this header is here for one release.
#pragma once

#pragma message("spotter/export/parquet_file.hpp moved: spotter/workbench/parquet.hpp; link spotter::workbench")

#include <spotter/workbench/parquet.hpp>
