// SPDX-License-Identifier: Apache-2.0
// The bodies of recorded_events.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/trial/recorded_events.hpp>
#include <spotter/trial/value.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY tensor_info detail::declared_tensor(worker_index const& run, std::uint32_t segment,
                                                 tensor_info const& stored) {
    tensor_info it = stored;
    it.id = run.id_of(segment, stored.id);
    if (it.id == no_tensor) { return it; }
    it.name = run.tensors()[it.id]->name;
    it.partner = run.id_of(segment, stored.partner);
    it.instant = run.instant_of(segment);
    return it;
}

SPOTTER_BODY rows::head head_of(worker_index const& run, recorded_row const& from) noexcept {
    rows::head it;
    bool const is_value = from.row.kind == row_kind::observe || from.row.kind == row_kind::scalar;
    if (!is_value || decode(from.row, it)) { return {}; }
    it.id = run.id_of(from.segment, it.id);
    return it;
}

SPOTTER_BODY void kept_rows::push(recorded_row const& it, tensor_id id) {
    rows_.push_back({it.segment, it.row.kind, id, bytes_.size(), it.row.body.size()});
    bytes_.insert(bytes_.end(), it.row.body.begin(), it.row.body.end());
}

SPOTTER_BODY recorded_row kept_rows::operator[](std::size_t i) const noexcept {
    one const& it = rows_[i];
    byte_view const body{bytes_.data() + it.at, it.size};
    return {it.segment, {it.kind, body, body, whole_row}};
}

SPOTTER_BODY error read_values(worker_index const& run, std::uint32_t segment, rows::observe const& row,
                               payload_unpacker& unpacker, std::vector<std::byte>& into, tensor_ref& view) {
    tensor_ref like = detail::view_without_values(row);
    auto const bytes = run.segment_with(row, segment);
    if (!bytes) { return bytes.error(); }
    if (!detail::can_hold(*bytes, row.place, like.bytes())) {
        return {errc::corrupt, "an observation claims more values than its segment has room for"};
    }
    into.resize(as_size(like.bytes()));
    if (error const why = unpacker.unpack(*bytes, row, into)) { return why; }
    detail::make_sound(into, like.type);
    like.values.raw = into.data();
    view = like;
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI
