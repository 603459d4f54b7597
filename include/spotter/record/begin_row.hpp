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
#include <spotter/core/text.hpp>
#include <spotter/format/encode.hpp>
#include <spotter/record/environment.hpp>
#include <spotter/version.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY void encode_run_begin(rows::run_begin row, std::span<collection_info const> collections,
                                        std::string_view packs, byte_buffer& into) noexcept {
    byte_buffer list;
    std::size_t bound = 0;
    for (collection_info const& each : collections) {
        bound += each.name.size() + each.what.view().size() + 2 * varint_limit;
    }
    byte_writer each_out{list.prepare(bound), list.failed() ? 0 : bound};
    for (collection_info const& each : collections) { encode(each_out, rows::collection{each.name, each.what.view()}); }
    row.collections = list.failed() ? 0 : collections.size();
    row.list = each_out.view();

    text<32> version{};
    version << SPOTTER_VERSION_MAJOR << '.' << SPOTTER_VERSION_MINOR << '.' << SPOTTER_VERSION_PATCH;
    row.version = version;
    text<900> environment;
    environment << environment_of_program();
    if (!packs.empty()) { environment << "\npacks " << packs; }
    row.environment = environment.view();

    std::size_t const room = bound + 128 + row.environment.size();
    byte_writer out{into.prepare(room), into.failed() ? 0 : room};
    encode(out, row);
    into.grow_by(out.view().size());
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
