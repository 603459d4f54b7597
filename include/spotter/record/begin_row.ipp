// SPDX-License-Identifier: Apache-2.0
// The bodies of begin_row.hpp.
#pragma once

#include <spotter/core/text.hpp>
#include <spotter/format/encode.hpp>
#include <spotter/record/begin_row.hpp>
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
