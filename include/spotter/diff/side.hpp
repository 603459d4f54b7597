// SPDX-License-Identifier: Apache-2.0
// Diff (L6): one side of a comparison: a recorded run, or what another program dumped.
#pragma once

#include <spotter/diff/dump.hpp>
#include <spotter/trial/trial.hpp>

#include <tuple>
#include <variant>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Every closed step of a run with its tensors, in the order in which they were observed; of a step that was closed twice as at its latest
// closing, of several workers those of the lowest that has the tensor there.
[[nodiscard]] inline step_index index_of(trial const& run) {
    struct seen {
        step_id step;
        std::uint32_t worker;  // its place among the readers
        std::uint64_t ordinal;
        row_place place;
        std::string const* name;
    };
    std::vector<seen> all;
    for (std::uint32_t worker = 0; worker < run.readers().size(); ++worker) {
        run_index const& its = run.readers()[worker]->index();
        for (auto const& tensor : its.tensors()) {
            for (track_entry const& entry : tensor->entries) {
                if (entry.loose) { continue; }
                auto const closed = its.step_of(entry.ordinal);
                if (!closed || closed->step != entry.step) { continue; }
                all.push_back({entry.step, worker, entry.ordinal, entry.place, &tensor->name});
            }
        }
    }
    // First all of one tensor at one step together, the one that holds last.
    auto const group = [](seen const& it) { return std::tie(it.step, *it.name); };
    auto const place = [](seen const& it) {
        return std::tie(it.ordinal, it.place.segment, it.place.offset, it.place.part);
    };
    std::sort(all.begin(), all.end(), [&](seen const& x, seen const& y) {
        if (group(x) != group(y)) { return group(x) < group(y); }
        return x.worker != y.worker ? x.worker > y.worker : place(x) < place(y);
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i + 1 == all.size() || group(all[i]) != group(all[i + 1])) { all[kept++] = all[i]; }
    }
    all.resize(kept);
    std::sort(all.begin(), all.end(), [&](seen const& x, seen const& y) {
        return std::tie(x.step, x.worker) != std::tie(y.step, y.worker)
                   ? std::tie(x.step, x.worker) < std::tie(y.step, y.worker)
                   : place(x) < place(y);
    });
    step_index index;
    for (seen const& each : all) { index.add(each.step, *each.name); }
    std::vector<step_id> steps = run.steps();
    std::erase_if(steps, [&](step_id each) { return !index.has(each); });
    index.sort_steps(std::move(steps));
    return index;
}

// The recorded hash of values that were not kept.
struct value_hash {
    bool known = false;
    std::uint64_t hash = 0;
    dtype type = dtype::none;
    extents shape{};
    order layout = order::row_major;  // taken for granted of what only a hash is left
};

// As track::at chooses: the lowest worker that observed it there, of several closings the latest, of several observations the last.
[[nodiscard]] inline value_hash recorded_hash(trial const& run, std::string const& name, step_id step) {
    for (auto const& each : run.readers()) {
        recorded_tensor const* const tensor = each->index().find(name);
        if (tensor == nullptr) { continue; }
        each->index().complete();
        bool seen = false;
        track_entry found{};
        tensor->entries.each_at(step, [&](track_entry const& entry) { found = entry, seen = true; });
        if (!seen) { continue; }
        row_finder finder;
        rows::observe row;
        summary stats;
        if (found.is_scalar || decode(each->index().row_at(found.place, row_kind::observe, finder), row, stats) ||
            !has(stats.has, terms::hash)) {
            return {};
        }
        return {true, stats.hash, tensor->info.type, row.has_shape || row.has_values ? row.shape : tensor->info.shape};
    }
    return {};
}

}  // namespace detail

// Reads through a trial or a dump, which it owns. One thread.
class diff_side {
public:
    explicit diff_side(trial run) : index_{detail::index_of(run)}, path_{run.path()}, from_{std::move(run)} {}
    diff_side(dump files, std::string_view path)
        : index_{files.index()}, path_{path}, is_ordered_{files.is_ordered()}, from_{std::move(files)} {}

    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] step_index const& index() const noexcept { return index_; }
    // Whether tensors within a step are in program order.
    [[nodiscard]] bool is_ordered() const noexcept { return is_ordered_; }
    [[nodiscard]] trial const* run() const noexcept { return std::get_if<trial>(&from_); }

    // Whether the step may still come: the run is being written and has not passed it.
    [[nodiscard]] bool awaits(step_id step) const {
        return run() != nullptr && !run()->over() && run()->state(step) == step_state::pending;
    }
    // errc: as of track::at or dump::at; no_payload where only statistics were recorded.
    [[nodiscard]] recorded_value at(std::string const& name, step_id step) const {
        if (trial const* const it = run()) { return (*it)[name].at(step); }
        return std::get<dump>(from_).at(name, step);
    }
    // Of the bits of values that were not kept.
    [[nodiscard]] detail::value_hash hash(std::string const& name, step_id step) const {
        trial const* const it = run();
        return it != nullptr ? detail::recorded_hash(*it, name, step) : detail::value_hash{};
    }
    // A statistic, recorded or computed from the values; unknown where there is none.
    [[nodiscard]] measurement stat(std::string const& name, step_id step, statistic which) const {
        if (trial const* const it = run()) {
            result<double> const found = (*it)[name].stat(step, which);
            return found ? measurement{*found, true} : measurement{};
        }
        recorded_value const value = at(name, step);
        return value ? which(summarize(value.view(), which.needs())) : measurement{};
    }

private:
    step_index index_;
    std::string path_;
    bool is_ordered_ = true;
    std::variant<trial, dump> from_;
};

// Opens a run, finished or still being written, or else a dump. errc: as of open_trial and open_dump; not_a_run where it is neither.
[[nodiscard]] inline result<diff_side> open_side(std::string_view path, inflate_function inflate = nullptr,
                                                 file_system& files = system_files()) {
    result<trial> run = open_trial(path, files);
    if (run) { return diff_side{std::move(*run)}; }
    auto const kind = files.kind_of(path);
    // A damaged run is no dump: its folder holds no such files, and the reason to tell is the run's.
    bool const may_be_dump = run.error().code == errc::not_a_run || (kind && *kind == path_kind::file);
    if (!may_be_dump) { return run.error(); }
    result<dump> found = open_dump(path, inflate, files);
    if (!found) { return found.error(); }
    return diff_side{std::move(*found), path};
}

}  // namespace spotter::inline SPOTTER_ABI
