// SPDX-License-Identifier: Apache-2.0
// Trial (L4): plain structs for recorded tensors, steps and runs.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/format/decode.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/trial/entry_list.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What an index knows about a tensor.
struct recorded_tensor {
    std::string name{};
    tensor_info info{};                      // with the trial's ids
    entry_list entries{};                    // observations and scalars, in the order of writing
    std::uint32_t declared_in = 0;           // the segment of its last declare row, to which declared_partner refers
    tensor_id declared_partner = no_tensor;  // the writer's id
};

// A step that was begun and never closed: the last of an attempt, or the current one of a running attempt. Its values
// are read like those of any other step.
struct open_step {
    step_id step{};             // the open step
    std::uint64_t ordinal = 0;  // of its close, if it comes
    std::uint64_t values = 0;   // number of its observations and scalars
    std::uint32_t attempt = 0;  // that left it open
    std::uint32_t worker = 0;   // of the step
};

// Finds open steps from the rows, in their order.
class open_step_list {
public:
    // If another step of the attempt follows, only the close was lost.
    void meet(std::uint32_t attempt, std::uint32_t worker, track_entry const& entry);
    // The attempt's current step was closed.
    void close(std::uint32_t attempt) noexcept;
    // The open steps, by attempt.
    [[nodiscard]] std::vector<open_step> const& all() const noexcept { return all_; }

private:
    std::vector<open_step> all_{};
};

// A collection of the recorded plan.
struct recorded_collection {
    std::string name{};
    std::string what{};  // in words: which tensors, when, and which terms
};

// What a rule of the hook could judge, recorded at the end of the run.
struct recorded_coverage {
    std::string rule{};                                               // the rule's name
    std::string reason{};                                             // why it could not judge; empty if it could
    std::uint64_t matched = 0, judged = 0, undecided = 0, fired = 0;  // as in `coverage`
    std::uint32_t worker = 0;                                         // the lowest worker with this row
    std::uint32_t workers = 1;  // number of workers with the same row; their counts are summed
};

// The position of a walk over the rows of a run.
struct walk_place {
    std::uint32_t segment = 0;  // by place in the index
    std::size_t group = 0;      // group of row frames in the segment
    std::uint64_t offset = 0;   // of a row frame, or before it
    std::uint64_t rows = 0;     // rows of that frame that were taken
};

// Unreadable bytes; everything else is readable.
struct damaged_place {
    std::string file{};        // in the run's folder
    std::uint64_t offset = 0;  // from the file's beginning
    std::uint64_t bytes = 0;   // 0: a file that is missing or unreadable
};

// The totals of a run, as counted by its writers.
struct run_totals {
    std::uint64_t stored = 0, dropped = 0, thinned = 0, closes_lost = 0, refused = 0;  // over all attempts
    std::uint64_t bytes = 0;                                                           // of all segments
};

namespace detail {

// keep(text) returns a view of a copy of the text that lives as long as the finding.
template <class Keep>
[[nodiscard]] finding finding_of(rows::finding const& reported, std::uint32_t worker, Keep const& keep) {
    finding it;
    it.rule = keep(reported.rule), it.reason = keep(reported.reason), it.tensor = keep(reported.tensor);
    it.id = rule_id_named(reported.rule);
    it.measure = keep(reported.measure), it.remedy = keep(reported.remedy);
    it.step = reported.step;
    it.measured = reported.measured, it.threshold = reported.threshold;
    it.how = static_cast<relation>(reported.how);
    it.severity = static_cast<severity>(reported.severity);
    it.decision = static_cast<decision>(reported.decision);
    it.decision_is_set = reported.decision_is_set;
    it.others = reported.others;
    it.worker = worker;
    it.detail << reported.detail;
    return it;
}
// Replaces `into` by the list in a run_begin or run_end row. False if the row is malformed.
[[nodiscard]] inline bool take_collections(rows::run_begin const& from, std::vector<recorded_collection>& into) {
    into.clear();
    byte_view list = from.list;
    for (std::uint64_t i = 0; i < from.collections; ++i) {
        rows::collection each;
        if (!read_collection(list, each)) { return false; }
        into.push_back({std::string{each.name}, std::string{each.what}});
    }
    return true;
}
[[nodiscard]] inline bool take_coverages(rows::run_end const& from, std::uint32_t worker,
                                         std::vector<recorded_coverage>& into) {
    into.clear();
    byte_view list = from.list;
    for (std::uint64_t i = 0; i < from.coverages; ++i) {
        rows::coverage each;
        if (!read_coverage(list, each)) { return false; }
        into.push_back({std::string{each.rule}, std::string{each.reason}, each.matched, each.judged, each.undecided,
                        each.fired, worker});
    }
    return true;
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/step_list.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void open_step_list::meet(std::uint32_t attempt, std::uint32_t worker, track_entry const& entry) {
    if (entry.loose) { return; }
    open_step const* const last = all_.empty() ? nullptr : &all_.back();
    if (last == nullptr || last->attempt != attempt || last->ordinal != entry.ordinal || last->step != entry.step) {
        close(attempt);
        all_.push_back({entry.step, entry.ordinal, 0, attempt, worker});
    }
    ++all_.back().values;
}

SPOTTER_BODY void open_step_list::close(std::uint32_t attempt) noexcept {
    if (!all_.empty() && all_.back().attempt == attempt) { all_.pop_back(); }
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
