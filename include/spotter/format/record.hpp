// SPDX-License-Identifier: Apache-2.0
// Format (L1): encodes and decodes rows.
#pragma once

#include <spotter/format/decode.hpp>
#include <spotter/format/encode.hpp>
#include <spotter/format/row_reader.hpp>
