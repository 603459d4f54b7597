// SPDX-License-Identifier: Apache-2.0
// Command line: what each collection, and what rules extract, takes on the disk. One walk over the rows; values are not
// read.
#pragma once

#include "policy_words.hpp"

#include <spotter/format/decode.hpp>
#include <spotter/trial/trial.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace spotter_tool {

struct disk_bytes {
    std::uint64_t values = 0;  // compressed
    std::uint64_t rows = 0;    // what says where these are, statistics and scalars
    std::uint64_t beyond = 0;  // of `rows`: at steps at which no collection asks for it, as rules do
};

struct disk_cost {
    // By name; what several collections keep is counted with the first of them. Empty: of tensors that none keeps, as
    // rules ask for.
    std::map<std::string, disk_bytes> collections{};
    std::map<std::uint64_t, std::uint64_t> features{};  // bytes of rows, by what was extracted
    bool plan_is_known = true;  // when each collection is due; without that `beyond` says little

    // What rules add to the plan: at other steps, of other tensors, and features.
    [[nodiscard]] std::uint64_t for_rules() const {
        std::uint64_t bytes = 0;
        for (auto const& [name, its] : collections) { bytes += name.empty() ? its.rows + its.values : its.beyond; }
        for (auto const& [key, its] : features) { bytes += its; }
        return bytes;
    }
    [[nodiscard]] std::uint64_t for_plan() const {
        std::uint64_t bytes = 0;
        for (auto const& [name, its] : collections) { bytes += name.empty() ? 0 : its.rows + its.values - its.beyond; }
        return bytes;
    }
};

namespace detail {

// The walk over one worker's record.
class cost_walk {
public:
    cost_walk(spotter::worker_index const& index, disk_cost& into) : index_{index}, into_{into} {
        for (spotter::recorded_collection const& each : index.collections()) {
            due_.push_back(policy_of_sentence(each.what));
            into_.plan_is_known = into_.plan_is_known && due_.back() != nullptr;
        }
    }

    void operator()() {
        index_.walk([this](std::uint32_t segment, spotter::row_view row) {
            take(segment, row);
            return true;
        });
        share_packed();
    }

private:
    // A row of its own: its kind, the length of its body, and that.
    [[nodiscard]] static std::uint64_t bytes_of(spotter::byte_view body) noexcept {
        std::uint64_t bytes = 2 + body.size();
        for (std::uint64_t rest = body.size(); rest >= 0x80; rest >>= 7U) { ++bytes; }
        return bytes;
    }
    void take(std::uint32_t segment, spotter::row_view row) {
        using namespace spotter;
        if (row.part != whole_row && row.stored.data() != packed_.data()) { share_packed(), packed_ = row.stored; }
        if (rows::feature made; row.kind == row_kind::feature) {
            if (!decode(row, made)) { into_.features[made.key] += bytes_of(row.body); }
            return;
        }
        rows::observe seen;
        rows::scalar value;
        summary stats;
        disk_bytes* keeper = nullptr;
        bool beyond = false;
        if (row.kind == row_kind::observe && !decode(row, seen, stats)) {
            keeper = keeper_of(segment, seen.id);
            beyond = !seen.has_values && is_beyond(segment, seen.id, seen.step);
            if (keeper != nullptr && seen.has_values) { keeper->values += seen.place.bytes; }
        } else if (row.kind == row_kind::scalar && !decode(row, value)) {
            keeper = keeper_of(segment, value.id);
            beyond = value.has_step && is_beyond(segment, value.id, value.step);
        }
        if (keeper == nullptr) { return; }
        if (row.part == whole_row) {
            keeper->rows += bytes_of(row.body);
            keeper->beyond += beyond ? bytes_of(row.body) : 0;
        } else {
            ++packed_by_[{keeper, beyond}];
        }
    }
    // Of many rows that are one on the disk each has the same share.
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
    // None of the collections that it is in asks for it at this step.
    [[nodiscard]] bool is_beyond(std::uint32_t segment, spotter::tensor_id local, spotter::step_id step) const {
        spotter::tensor_id const id = index_.id_of(segment, local);
        if (id >= index_.tensors().size()) { return false; }
        std::uint64_t const members = index_.tensors()[id]->info.collections;
        for (std::size_t i = 0; i < due_.size() && i < 64; ++i) {
            if ((members >> i & 1U) != 0 && (due_[i] == nullptr || due_[i](step))) { return false; }
        }
        return members != 0;
    }
    [[nodiscard]] disk_bytes* keeper_of(std::uint32_t segment, spotter::tensor_id local) {
        spotter::tensor_id const id = index_.id_of(segment, local);
        auto const& tensors = index_.tensors();
        if (id >= tensors.size()) { return nullptr; }
        auto const& collections = index_.collections();
        std::uint64_t const members = tensors[id]->info.collections;
        for (std::size_t i = 0; i < collections.size() && i < 64; ++i) {
            if ((members >> i & 1U) != 0) { return &into_.collections[collections[i].name]; }
        }
        return &into_.collections[std::string{}];
    }

    spotter::worker_index const& index_;
    disk_cost& into_;
    spotter::byte_view packed_{};
    std::map<std::pair<disk_bytes*, bool>, std::uint64_t> packed_by_{};  // and whether beyond the plan
    std::vector<step_predicate> due_{};                                  // of each collection
};

}  // namespace detail

[[nodiscard]] inline disk_cost disk_cost_of(spotter::trial const& run) {
    disk_cost found;
    for (auto const& each : run.readers()) { detail::cost_walk{each->index(), found}(); }
    return found;
}

}  // namespace spotter_tool
