// SPDX-License-Identifier: Apache-2.0
// The bodies of side.hpp.
#pragma once

#include <spotter/diff/side.hpp>
#include <spotter/stat/summarize.hpp>

#include <tuple>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY step_index index_of(trial const& run) {
    struct seen {
        step_id step;
        std::uint32_t worker;  // its place among the readers
        std::uint64_t ordinal;
        row_place place;
        std::string const* name;
    };
    std::vector<seen> all;
    for (std::uint32_t worker = 0; worker < run.readers().size(); ++worker) {
        worker_index const& its = run.readers()[worker]->index();
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

// As track::at chooses: the lowest worker that observed it there, of several closings the latest, of several observations the last.
[[nodiscard]] SPOTTER_BODY value_hash recorded_hash(trial const& run, std::string const& name, step_id step) {
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

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool diff_side::awaits(step_id step) const {
    return run() != nullptr && !run()->over() && run()->state(step) == step_state::pending;
}

SPOTTER_BODY recorded_value diff_side::at(std::string const& name, step_id step) const {
    if (trial const* const it = run()) { return (*it)[name].at(step); }
    return std::get<dump>(from_).at(name, step);
}

SPOTTER_BODY detail::value_hash diff_side::hash(std::string const& name, step_id step) const {
    trial const* const it = run();
    return it != nullptr ? detail::recorded_hash(*it, name, step) : detail::value_hash{};
}

SPOTTER_BODY measurement diff_side::stat(std::string const& name, step_id step, statistic which) const {
    if (trial const* const it = run()) {
        result<double> const found = (*it)[name].stat(step, which);
        return found ? measurement{*found, true} : measurement{};
    }
    recorded_value const value = at(name, step);
    return value ? which(summarize(value.view(), which.needs())) : measurement{};
}

SPOTTER_BODY result<diff_side> open_side(std::string_view path, inflate_function inflate, file_system& files) {
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
