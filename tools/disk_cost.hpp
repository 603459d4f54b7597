// SPDX-License-Identifier: Apache-2.0
// Command line: the disk space of each collection and of extracted features. One walk over the rows; values are not
// read.
#pragma once

#include "policy_words.hpp"

#include <spotter/trial/recorded_events.hpp>
#include <spotter/trial/trial.hpp>

#include <map>
#include <string>
#include <vector>

namespace spotter_tool {

struct disk_bytes {
    std::uint64_t values = 0;  // compressed
    std::uint64_t rows = 0;    // their places, statistics and scalars
    std::uint64_t beyond = 0;  // part of `rows` at steps where no collection is due, written for rules
};

struct disk_cost {
    std::map<std::string, disk_bytes> collections{};    // by name; a tensor in several counts for the first
    disk_bytes scalars{};                               // in no collection: always kept
    disk_bytes statistics{};                            // of tensors in no collection, written for rules
    std::map<std::uint64_t, std::uint64_t> features{};  // bytes of rows, by key of the feature
    bool plan_is_known = true;  // the steps of each collection are known; otherwise `beyond` is unreliable

    // What rules add to the plan: rows at other steps, of other tensors, and features.
    [[nodiscard]] std::uint64_t for_rules() const {
        std::uint64_t bytes = statistics.rows + statistics.values;
        for (auto const& [name, its] : collections) { bytes += its.beyond; }
        for (auto const& [key, its] : features) { bytes += its; }
        return bytes;
    }
    [[nodiscard]] std::uint64_t for_plan() const {
        std::uint64_t bytes = scalars.rows;
        for (auto const& [name, its] : collections) { bytes += its.rows + its.values - its.beyond; }
        return bytes;
    }
};

namespace detail {

// Walks over one worker's record.
class cost_walk {
public:
    cost_walk(spotter::worker_index const& index, disk_cost& into) : index_{index}, into_{into} {
        for (spotter::recorded_collection const& each : index.collections()) {
            due_.push_back(policy_of_sentence(each.what));
            into_.plan_is_known = into_.plan_is_known && due_.back() != nullptr;
        }
    }

    void operator()() {
        spotter::recorded_events{index_}.advance([] { return true; },
                                                 [this](spotter::recorded_row const& it) { take(it); });
        share_packed();
    }

private:
    // The size of a single row: its kind, the length of its body, and the body.
    [[nodiscard]] static std::uint64_t bytes_of(spotter::byte_view body) noexcept {
        std::uint64_t bytes = 2 + body.size();
        for (std::uint64_t rest = body.size(); rest >= 0x80; rest >>= 7U) { ++bytes; }
        return bytes;
    }
    void take(spotter::recorded_row const& it) {
        using namespace spotter;
        row_view const& row = it.row;
        if (row.part != whole_row && row.stored.data() != packed_.data()) { share_packed(), packed_ = row.stored; }
        hand_over(
            index_, it,
            recorded_sink{[&](recorded_feature const& made) { into_.features[made.row.key] += bytes_of(row.body); },
                          [&](recorded_observation const& seen) {
                              bool const has_values = seen.row.has_values;
                              disk_bytes& keeper = keeper_of(seen.id, into_.statistics);
                              count(row, keeper, !has_values && is_beyond(seen.id, seen.row.step));
                              if (has_values) { keeper.values += seen.row.place.bytes; }
                          },
                          [&](recorded_scalar const& value) {
                              count(row, keeper_of(value.id, into_.scalars),
                                    value.row.has_step && is_beyond(value.id, value.row.step));
                          }});
    }
    void count(spotter::row_view const& row, disk_bytes& keeper, bool beyond) {
        if (row.part != spotter::whole_row) {
            ++packed_by_[{&keeper, beyond}];
            return;
        }
        keeper.rows += bytes_of(row.body);
        keeper.beyond += beyond ? bytes_of(row.body) : 0;
    }
    // Rows that are packed into one share its size equally.
    void share_packed() {
        std::uint64_t count = 0;
        for (auto const& [whose, its] : packed_by_) { count += its; }
        for (auto const& [whose, its] : packed_by_) {
            std::uint64_t const share = bytes_of(packed_) * its / count;
            whose.first->rows += share;
            whose.first->beyond += whose.second ? share : 0;
        }
        packed_by_.clear();
        packed_ = {};
    }
    // No collection of the tensor is due at this step.
    [[nodiscard]] bool is_beyond(spotter::tensor_id id, spotter::step_id step) const {
        std::uint64_t const members = index_.tensors()[id]->info.collections;
        for (std::size_t i = 0; i < due_.size() && i < 64; ++i) {
            if ((members >> i & 1U) != 0 && (due_[i] == nullptr || due_[i](step))) { return false; }
        }
        return members != 0;
    }
    // Of its first collection, or `other` if it is in none.
    [[nodiscard]] disk_bytes& keeper_of(spotter::tensor_id id, disk_bytes& other) {
        auto const& collections = index_.collections();
        std::uint64_t const members = index_.tensors()[id]->info.collections;
        for (std::size_t i = 0; i < collections.size() && i < 64; ++i) {
            if ((members >> i & 1U) != 0) { return into_.collections[collections[i].name]; }
        }
        return other;
    }

    spotter::worker_index const& index_;
    disk_cost& into_;
    spotter::byte_view packed_{};
    std::map<std::pair<disk_bytes*, bool>, std::uint64_t> packed_by_{};  // with whether they are beyond the plan
    std::vector<step_predicate> due_{};                                  // of each collection
};

}  // namespace detail

[[nodiscard]] inline disk_cost disk_cost_of(spotter::trial const& run) {
    disk_cost found;
    for (auto const& each : run.readers()) { detail::cost_walk{each->index(), found}(); }
    return found;
}

}  // namespace spotter_tool
