// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): replicas of a model that are no longer equal. docs/rules.md#replica_divergence
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/beside.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

// Error at a step after which a weight or a bias does not have the same bits in all workers (hash, type and shape). The
// finding names the first such tensor in observation order, and the workers outside the largest group of equal ones.
// Among groups of equal size the one with the first worker counts as the majority. Replicas that reduce their gradients
// together are expected to be bitwise equal. A worker without the tensor at a step is left out there. Every mode. Needs
// `replay_side_by_side`. If the workers' hooks have the rule too, the hashes are in the records and no values are read.
struct replica_divergence {
    using kind = rule_kind;
    static constexpr std::string_view name = "replica_divergence";
    static constexpr std::string_view remedy =
        "Compare the named tensor's producer between the two sides; it is the first that differs.";

    selector select = &select::all_parameters;
    std::uint64_t every = 1;  // judged at steps whose index is a multiple of it; 0 acts as 1

    struct cell {                  // a tensor in one stream
        std::uint64_t digest = 0;  // of its bits, type and shape
        std::uint64_t close = 0;   // the close at which it was taken
    };
    struct state {
        met_streams streams;
        per_tensor<slot_array<cell>> cells;  // by tensor id, then by stream
        std::uint64_t close = 1;
        bool lacks_memory = false;  // for a worker
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::hash : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.cells.declare(tensor) != nullptr;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        std::size_t const place = seen.streams.place_of(it.stream);
        seen.lacks_memory = seen.lacks_memory || place == met_streams::none;
        if (place == met_streams::none || it.step.index % (every > 0 ? every : 1) != 0) { return; }
        if (!has(it.stats.has, stats_mask::hash) || seen.cells.find(it.tensor.id) == nullptr) { return; }
        slot_array<cell>& mine = seen.cells[it.tensor.id];
        if (!mine.grow(place + 1)) {
            seen.lacks_memory = true;
            return;
        }
        seen.cells.touch(it.tensor.id);
        mine[place] = {digest_of(it), seen.close};
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        bool judged = false;
        violation found;
        evidence_text detail;
        std::uint32_t worker = 0;
        for (tensor_id const id : seen.cells.touched()) {
            slot_array<cell> const& mine = seen.cells[id];
            group const largest = largest_group(mine, seen.close);
            if (largest.all < 2) { continue; }
            judged = true;
            if (largest.size == largest.all) { continue; }
            if (found.count == 0) { tell_minority(seen, mine, largest, worker, detail); }
            found.blame(seen.cells.name_of(id), static_cast<double>(largest.all - largest.size));
        }
        seen.cells.clear();
        ++seen.close;
        if (found.count == 0) { return judged ? truth::no : truth::undecided; }
        finding it =
            found.as_finding("replicas differ", "workers in the minority", relation::greater, 0, severity::error);
        it.detail = detail;
        it.worker = worker;
        out.push(it);
        return truth::yes;
    }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept { return seen.lacks_memory; }
    [[nodiscard]] constexpr std::string_view silence(state const& seen) const noexcept {
        return seen.streams.count() < 2 ? other_run_missing
                                        : "no two workers have the hash of a weight or a bias at the same step";
    }

private:
    struct group {
        std::uint64_t digest = 0;
        std::size_t size = 0;  // of the largest group
        std::size_t all = 0;   // workers that have the tensor at this step
    };
    [[nodiscard]] static constexpr group largest_group(slot_array<cell> const& cells, std::uint64_t close) noexcept {
        group found;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (cells[i].close != close) { continue; }
            ++found.all;
            if (found.size > 0 && cells[i].digest == found.digest) { continue; }
            std::size_t size = 0;
            for (std::size_t k = i; k < cells.size(); ++k) {
                size += cells[k].close == close && cells[k].digest == cells[i].digest ? 1U : 0U;
            }
            if (size > found.size) { found.digest = cells[i].digest, found.size = size; }
        }
        return found;
    }
    static constexpr void tell_minority(state const& seen, slot_array<cell> const& cells, group const& largest,
                                        std::uint32_t& worker, evidence_text& detail) noexcept {
        std::size_t const few = largest.all - largest.size;
        std::size_t listed = 0;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (cells[i].close != seen.close || cells[i].digest == largest.digest) { continue; }
            if (listed == 0) { worker = seen.streams[i]; }
            if (listed < 6) { detail << (listed > 0 ? ", " : few > 1 ? "workers " : "worker ") << seen.streams[i]; }
            ++listed;
        }
        if (listed > 6) { detail << " and " << listed - 6 << " more"; }
        detail << " of " << largest.all;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
