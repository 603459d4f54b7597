// SPDX-License-Identifier: Apache-2.0
// Command line: what each collection, and what rules extract, takes on the disk. One walk over the rows; values are not
// read.
#pragma once

#include <spotter/trial/recorded_events.hpp>
#include <spotter/trial/trial.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace spotter_tool {

struct disk_bytes {
    std::uint64_t values = 0;  // compressed
    std::uint64_t rows = 0;    // what says where these are, statistics and scalars
};

struct disk_cost {
    // By name; what several collections keep is counted with the first of them. Empty: of tensors that none keeps, as
    // rules ask for.
    std::map<std::string, disk_bytes> collections{};
    std::map<std::uint64_t, std::uint64_t> features{};  // bytes of rows, by what was extracted
};

namespace detail {

// The walk over one worker's record.
class cost_walk {
public:
    cost_walk(spotter::worker_index const& index, disk_cost& into) : index_{index}, into_{into} {}

    void operator()() {
        spotter::recorded_events{index_}.advance([this](spotter::recorded_row const& it) { take(it); });
        share_packed();
    }

private:
    // A row of its own: its kind, the length of its body, and that.
    [[nodiscard]] static std::uint64_t bytes_of(spotter::byte_view body) noexcept {
        std::uint64_t bytes = 2 + body.size();
        for (std::uint64_t rest = body.size(); rest >= 0x80; rest >>= 7U) { ++bytes; }
        return bytes;
    }
    void take(spotter::recorded_row const& it) {
        spotter::row_view const& row = it.row;
        if (row.part != spotter::whole_row && row.stored.data() != packed_.data()) {
            share_packed(), packed_ = row.stored;
        }
        disk_bytes* keeper = nullptr;
        hand_over(index_, it,
                  spotter::recorded_sink{[&](spotter::recorded_feature const& made) {
                                             into_.features[made.row.key] += bytes_of(row.body);
                                         },
                                         [&](spotter::recorded_observation const& seen) {
                                             keeper = keeper_of(seen.id);
                                             if (seen.row.has_values) { keeper->values += seen.row.place.bytes; }
                                         },
                                         [&](spotter::recorded_scalar const& value) { keeper = keeper_of(value.id); }});
        if (keeper == nullptr) { return; }
        if (row.part == spotter::whole_row) {
            keeper->rows += bytes_of(row.body);
        } else {
            ++packed_by_[keeper];
        }
    }
    // Of many rows that are one on the disk each has the same share.
    void share_packed() {
        std::uint64_t count = 0;
        for (auto const& [keeper, its] : packed_by_) { count += its; }
        for (auto const& [keeper, its] : packed_by_) { keeper->rows += bytes_of(packed_) * its / count; }
        packed_by_.clear();
        packed_ = {};
    }
    [[nodiscard]] disk_bytes* keeper_of(spotter::tensor_id id) {
        auto const& collections = index_.collections();
        std::uint64_t const members = index_.tensors()[id]->info.collections;
        for (std::size_t i = 0; i < collections.size() && i < 64; ++i) {
            if ((members >> i & 1U) != 0) { return &into_.collections[collections[i].name]; }
        }
        return &into_.collections[std::string{}];
    }

    spotter::worker_index const& index_;
    disk_cost& into_;
    spotter::byte_view packed_{};
    std::map<disk_bytes*, std::uint64_t> packed_by_{};
};

}  // namespace detail

[[nodiscard]] inline disk_cost disk_cost_of(spotter::trial const& run) {
    disk_cost found;
    for (auto const& each : run.readers()) { detail::cost_walk{each->index(), found}(); }
    return found;
}

}  // namespace spotter_tool
