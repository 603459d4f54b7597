// SPDX-License-Identifier: Apache-2.0
// Trial (L4): rows of tensors whose declaration was lost: another segment may have it, or a later refresh.
#pragma once

#include <spotter/format/frame.hpp>
#include <spotter/trial/recorded.hpp>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Maps the writer's ids to the trial's ids, by attempt: all segments of an attempt use the same ids. Only an intact
// head shows a segment's attempt; segments without one are not used.
class attempt_names {
public:
    // Adds a declaration of a segment.
    void learn(byte_view segment, tensor_id local, tensor_id id) {
        auto const head = head_of(segment);
        if (!head) { return; }
        std::vector<tensor_id>& ids = ids_[{head->run_id, head->attempt}];
        if (local >= ids.size()) { ids.resize(local + std::size_t{1}, no_tensor); }
        ids[local] = id;
    }
    // no_tensor if no segment of the attempt declares it.
    [[nodiscard]] tensor_id find(byte_view segment, tensor_id local) const noexcept {
        auto const head = head_of(segment);
        if (!head) { return no_tensor; }
        auto const it = ids_.find({head->run_id, head->attempt});
        return it != ids_.end() && local < it->second.size() ? it->second[local] : no_tensor;
    }

private:
    [[nodiscard]] static result<segment_head> head_of(byte_view segment) noexcept {
        if (segment.size() < layout::head_bytes) { return {errc::not_yet, "the segment has no head yet"}; }
        return decode_head(segment);
    }

    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<tensor_id>> ids_{};
};

// Entries of tensors that are not declared yet.
class nameless_rows {
public:
    [[nodiscard]] bool empty() const noexcept { return lists_.empty(); }
    // Sets the source of the rows.
    void read_from(row_source source) noexcept { source_ = source; }
    void clear() noexcept { lists_.clear(); }
    // Adds an entry under the writer's id.
    void add(tensor_id local, track_entry const& entry) { list_of(entry.place, local).push_back(entry); }
    // Adds all entries of an id in a steps row.
    void add_row(row_place const& place, tensor_id local, std::uint64_t count) {
        list_of(place, local).push_row(place, local, count);
    }
    // Whether test(entry) holds for any of the entries at a step, without scalars between steps.
    template <class Test>
    [[nodiscard]] bool any_at(step_id step, Test const& test) const {
        bool found = false;
        for (auto it = lists_.begin(); it != lists_.end() && !found; ++it) {
            it->second.each_at(step, [&](track_entry const& entry) { found = found || test(entry); });
        }
        return found;
    }

    // Passes entries that have a name now to take(id, entries); id_of(segment, writer's id). Keeps them if it returns
    // false.
    template <class IdOf, class Take>
    void adopt(IdOf const& id_of, Take const& take) {
        for (auto it = lists_.begin(); it != lists_.end();) {
            tensor_id const id = id_of(it->first.first, it->first.second);
            it = id != no_tensor && take(id, it->second) ? lists_.erase(it) : std::next(it);
        }
    }
    // `damage`, and the rows without a declaration, each once. Valid until the next call.
    template <class NameOf>
    [[nodiscard]] std::vector<damaged_place> const& beside(std::vector<damaged_place> const& damage,
                                                           NameOf const& name_of) const {
        if (lists_.empty()) { return damage; }
        std::set<std::pair<std::uint32_t, std::uint64_t>> met;
        all_ = damage;
        for (auto const& [key, entries] : lists_) {
            entries.each_row([&](row_place const& place) {
                if (!met.emplace(place.segment, place.offset).second) { return; }
                all_.push_back({name_of(place.segment), place.offset, place.bytes});
            });
        }
        return all_;
    }

private:
    [[nodiscard]] entry_list& list_of(row_place const& place, tensor_id local) {
        entry_list& mine = lists_[{place.segment, local}];
        mine.read_from(source_);
        return mine;
    }

    row_source source_{};
    std::map<std::pair<std::uint32_t, tensor_id>, entry_list> lists_{};
    mutable std::vector<damaged_place> all_{};  // the last result; mutable: a trial has one thread
};

}  // namespace spotter::inline SPOTTER_ABI
