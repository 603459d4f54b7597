// SPDX-License-Identifier: Apache-2.0
// Record (L4): the first row of an attempt.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/rows.hpp>

#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// Appends `row` to `into`, with the library's version, the plan's collections and the program's environment; `packs`
// names the rule packs that judge it. If memory is exhausted, into.failed() is true.
void encode_run_begin(rows::run_begin row, std::span<collection_info const> collections, std::string_view packs,
                      byte_buffer& into) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/record/begin_row.ipp>
#endif
