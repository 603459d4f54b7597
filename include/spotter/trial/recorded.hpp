// SPDX-License-Identifier: Apache-2.0
// Trial (L4): what a record says of tensors, steps and the run, as plain structs.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/trial/entry_list.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

struct recorded_tensor {
    std::string name{};
    tensor_info info{};  // ids are the trial's own
    entry_list entries{};
    std::uint32_t declared_in = 0;  // the segment of its last declare row, whose id of the partner this is
    tensor_id declared_partner = no_tensor;
};

// Begun and never closed: what an attempt of a run ended in, or, while it goes on, where it is. Its values are read like those of
// any other step.
struct open_step {
    step_id step{};
    std::uint64_t ordinal = 0;
    std::uint64_t values = 0;  // observations and scalars that it holds
    std::uint32_t attempt = 0;
    std::uint32_t worker = 0;
};

// Finds them, from the rows in their order.
class open_step_list {
public:
    // Of a step that another one follows in its attempt the close was lost.
    void meet(std::uint32_t attempt, std::uint32_t worker, track_entry const& entry);
    void close(std::uint32_t attempt) noexcept;
    [[nodiscard]] std::vector<open_step> const& all() const noexcept { return all_; }

private:
    std::vector<open_step> all_{};
};

struct recorded_collection {
    std::string name{};
    std::string what{};
};

struct recorded_coverage {
    std::string rule{};
    std::string reason{};
    std::uint64_t matched = 0, judged = 0, undecided = 0, fired = 0;
    std::uint32_t worker = 0;   // the lowest of those that it is of
    std::uint32_t workers = 1;  // of how many, which say the same: their counts add up
};

// How far a walk over the rows of a run has come.
struct walk_place {
    std::uint32_t segment = 0;
    std::size_t group = 0;     // of its groups of row frames
    std::uint64_t offset = 0;  // of a row frame, or before it
    std::uint64_t rows = 0;    // of that frame, which were taken
};

// Bytes that could not be read; everything else was.
struct damaged_place {
    std::string file{};
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

struct run_totals {
    std::uint64_t stored = 0, dropped = 0, thinned = 0, closes_lost = 0, refused = 0;  // over all attempts
    std::uint64_t bytes = 0;                                                           // of all segments
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/recorded.ipp>
#endif
