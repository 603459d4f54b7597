// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: one side of a comparison: a recorded run, or a dump of another program.
#pragma once

#include "diff/dump.hpp"

#include <spotter/trial/trial.hpp>
#include <spotter/workbench/diff.hpp>

#include <unordered_map>
#include <variant>

namespace spotter::inline SPOTTER_ABI::detail {

// Every closed step of a run with its tensors, in the order of observation. If a step was closed twice, the last close
// counts; of several workers the lowest that has the tensor there.
[[nodiscard]] step_index index_of(trial const& run);

// The recorded hash of values that were not kept.
struct value_hash {
    bool known = false;
    std::uint64_t hash = 0;
    dtype type = dtype::none;
    extents shape{};
    order layout = order::row_major;  // assumed if only a hash exists
};

// The implementation of diff_side.
class opened_side {
public:
    explicit opened_side(trial run) : index_{index_of(run)}, path_{run.path()}, from_{std::move(run)} {}
    opened_side(dump files, std::string_view path)
        : index_{files.index()}, path_{path}, is_ordered_{files.is_ordered()}, from_{std::move(files)} {}

    [[nodiscard]] std::string const& path() const noexcept { return path_; }   // as it was opened
    [[nodiscard]] step_index const& index() const noexcept { return index_; }  // the tensors at each step
    // Whether tensors within a step are in program order.
    [[nodiscard]] bool is_ordered() const noexcept { return is_ordered_; }
    [[nodiscard]] trial const* run() const noexcept { return std::get_if<trial>(&from_); }  // null for a dump

    // Whether the step may still come: the run is being written and has not passed it.
    [[nodiscard]] bool awaits(step_id step) const;
    [[nodiscard]] role role_of(std::string const& name) const;  // as recorded; other for a dump
    // errc: those of track::at or dump::at; no_payload where only statistics were recorded.
    [[nodiscard]] recorded_value at(std::string const& name, step_id step) const;
    // The hash of the bits of values that were not kept.
    [[nodiscard]] value_hash hash(std::string const& name, step_id step) const;
    // A statistic, recorded or computed from the values; unknown where there is none.
    [[nodiscard]] measurement stat(std::string const& name, step_id step, statistic which) const;

private:
    [[nodiscard]] track const& track_of(std::string const& name) const;

    step_index index_;
    std::string path_;
    bool is_ordered_ = true;
    std::variant<trial, dump> from_;
    mutable std::unordered_map<std::string, track> tracks_{};  // of the run, created on request
};

}  // namespace spotter::inline SPOTTER_ABI::detail
