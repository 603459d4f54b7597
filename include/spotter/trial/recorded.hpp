// SPDX-License-Identifier: Apache-2.0
// Trial (L4): what a record says of tensors, steps and the run, as plain structs.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/trial/entry_list.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// All that an index knows of a tensor.
struct recorded_tensor {
    std::string name{};
    tensor_info info{};                      // ids are the trial's own
    entry_list entries{};                    // its observations and scalars, in the order of writing
    std::uint32_t declared_in = 0;           // the segment of its last declare row, whose id of the partner this is
    tensor_id declared_partner = no_tensor;  // the writer's id, in that segment
};

// Begun and never closed: what an attempt of a run ended in, or, while it goes on, where it is. Its values are read
// like those of any other step.
struct open_step {
    step_id step{};             // which
    std::uint64_t ordinal = 0;  // that its close would have, among those of its worker
    std::uint64_t values = 0;   // observations and scalars that it holds
    std::uint32_t attempt = 0;  // that it was left open by
    std::uint32_t worker = 0;   // whose it is
};

// Finds them, from the rows in their order.
class open_step_list {
public:
    // Of a step that another one follows in its attempt the close was lost.
    void meet(std::uint32_t attempt, std::uint32_t worker, track_entry const& entry);
    // The step that an attempt is at was closed.
    void close(std::uint32_t attempt) noexcept;
    // Those that are open, by attempt.
    [[nodiscard]] std::vector<open_step> const& all() const noexcept { return all_; }

private:
    std::vector<open_step> all_{};
};

// A collection of the plan that a run was recorded with.
struct recorded_collection {
    std::string name{};
    std::string what{};  // which tensors, when and what of them, in words
};

// How much a rule of the hook could judge, as it said when the run ended.
struct recorded_coverage {
    std::string rule{};                                               // its name
    std::string reason{};                                             // why it could not judge, if it could not
    std::uint64_t matched = 0, judged = 0, undecided = 0, fired = 0;  // as in `coverage`
    std::uint32_t worker = 0;                                         // the lowest of those that it is of
    std::uint32_t workers = 1;  // of how many, which say the same: their counts add up
};

// How far a walk over the rows of a run has come.
struct walk_place {
    std::uint32_t segment = 0;  // its place in the index
    std::size_t group = 0;      // of its groups of row frames
    std::uint64_t offset = 0;   // of a row frame, or before it
    std::uint64_t rows = 0;     // of that frame, which were taken
};

// Bytes that could not be read; everything else was.
struct damaged_place {
    std::string file{};        // in the run's folder
    std::uint64_t offset = 0;  // from the file's beginning
    std::uint64_t bytes = 0;   // how many; 0: a file that is missing, or cannot be read at all
};

// What a run was given, and what of it is in its files, by what its writers counted.
struct run_totals {
    std::uint64_t stored = 0, dropped = 0, thinned = 0, closes_lost = 0, refused = 0;  // over all attempts
    std::uint64_t bytes = 0;                                                           // of all segments
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/recorded.ipp>
#endif
