// SPDX-License-Identifier: Apache-2.0
// The bodies of lost_names.hpp.
#pragma once

#include <spotter/trial/lost_names.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void attempt_names::learn(byte_view segment, tensor_id local, tensor_id id) {
    auto const head = head_of(segment);
    if (!head) { return; }
    std::vector<tensor_id>& ids = ids_[{head->run_id, head->attempt}];
    if (local >= ids.size()) { ids.resize(local + std::size_t{1}, no_tensor); }
    ids[local] = id;
}

SPOTTER_BODY tensor_id attempt_names::find(byte_view segment, tensor_id local) const noexcept {
    auto const head = head_of(segment);
    if (!head) { return no_tensor; }
    auto const it = ids_.find({head->run_id, head->attempt});
    return it != ids_.end() && local < it->second.size() ? it->second[local] : no_tensor;
}

SPOTTER_BODY result<segment_head> attempt_names::head_of(byte_view segment) noexcept {
    if (segment.size() < layout::head_bytes) { return {errc::not_yet, "the segment has no head yet"}; }
    return decode_head(segment);
}

SPOTTER_BODY void nameless_rows::add_row(row_place const& place, tensor_id local, std::uint64_t count) {
    list_of(place, local).push_row(place, local, count);
}

SPOTTER_BODY entry_list& nameless_rows::list_of(row_place const& place, tensor_id local) {
    entry_list& mine = lists_[{place.segment, local}];
    mine.read_from(source_);
    return mine;
}

}  // namespace spotter::inline SPOTTER_ABI
