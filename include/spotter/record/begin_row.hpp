// SPDX-License-Identifier: Apache-2.0
// Record (L4): the row that an attempt begins with.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/rows.hpp>

#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// `row` with the library's version, the plan's collections and what the program runs on, where `packs` names those that
// judge it. Appended to `into`, which says whether there was memory.
void encode_run_begin(rows::run_begin row, std::span<collection_info const> collections, std::string_view packs,
                      byte_buffer& into) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/record/begin_row.ipp>
#endif
