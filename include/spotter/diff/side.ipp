// SPDX-License-Identifier: Apache-2.0
// The bodies of side.hpp.
#pragma once

#include <spotter/diff/side.hpp>
#include <spotter/stat/summarize.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

// What one worker has, in the order of its record.
SPOTTER_BODY void add_worker(worker_index const& its, step_index& into) {
    struct seen {
        step_id step;
        std::uint32_t name;
    };
    constexpr std::uint32_t unknown = ~std::uint32_t{0};
    std::vector<std::uint32_t> number_of_id(its.tensors().size(), unknown);
    std::vector<seen> open;                   // rows since the last close
    std::vector<std::uint32_t> names, place;  // of the step; place: of each name the last row that has it
    auto const meet = [&](std::uint32_t segment, tensor_id local, step_id step) {
        tensor_id const id = its.id_of(segment, local);
        if (id == no_tensor) { return; }
        std::uint32_t& number = number_of_id[id];
        if (number == unknown) { number = into.number_of(its.tensors()[id]->name); }
        open.push_back({step, number});
    };
    its.walk([&](std::uint32_t segment, row_view row) {
        byte_reader in{row.body};
        if (row.kind == row_kind::observe) {
            (void)in.fixed<std::uint8_t>();  // flags
            tensor_id const local = take_id(in);
            step_id const step = take_step(in);
            if (!in.bad()) { meet(segment, local, step); }
        } else if (rows::scalar number; row.kind == row_kind::scalar && !decode(row, number)) {
            if (number.has_step) { meet(segment, number.id, number.step); }
        } else if (rows::close end; row.kind == row_kind::close && !decode(row, end)) {
            place.resize(into.names().size());
            std::erase_if(open, [&](seen const& each) { return each.step != end.step; });
            for (std::uint32_t i = 0; i < open.size(); ++i) { place[open[i].name] = i; }
            names.clear();
            for (std::uint32_t i = 0; i < open.size(); ++i) {
                if (place[open[i].name] == i) { names.push_back(open[i].name); }
            }
            open.clear();
            if (!names.empty()) { into.put(end.step, names); }
        }
        return true;
    });
}

SPOTTER_BODY step_index index_of(trial const& run) {
    step_index index;
    for (auto const& reader : run.readers()) {
        if (reader == run.readers().front()) {
            add_worker(reader->index(), index);
            continue;
        }
        step_index its;
        add_worker(reader->index(), its);
        std::vector<std::uint32_t> names;
        for (step_id const step : its.steps()) {
            names.clear();
            for (std::uint32_t const each : its.at(step)) { names.push_back(index.number_of(its.names()[each])); }
            index.put_missing(step, names);
        }
    }
    if (run.readers().size() > 1) {
        std::vector<step_id> steps = run.steps();
        std::erase_if(steps, [&](step_id each) { return !index.has(each); });
        index.sort_steps(std::move(steps));
    }
    return index;
}

// As track::at chooses: the lowest worker that observed it there, of several closings the latest, of several
// observations the last.
[[nodiscard]] SPOTTER_BODY value_hash recorded_hash(trial const& run, std::string const& name, step_id step) {
    for (auto const& each : run.readers()) {
        recorded_tensor const* const tensor = each->index().find(name);
        if (tensor == nullptr) { continue; }
        each->index().complete();
        bool seen = false;
        track_entry found{};
        tensor->entries.each_at(step, [&](track_entry const& entry) { found = entry, seen = true; });
        if (!seen) { continue; }
        rows::observe row;
        summary stats;
        if (found.is_scalar ||
            decode(each->index().row_at(found.place, row_kind::observe, each->index().finder()), row, stats) ||
            !has(stats.has, terms::hash)) {
            return {};
        }
        return {true, stats.hash, tensor->info.type, row.has_shape || row.has_values ? row.shape : tensor->info.shape};
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY track const& diff_side::track_of(std::string const& name) const {
    auto at = tracks_.find(name);
    if (at == tracks_.end()) { at = tracks_.emplace(name, (*run())[name]).first; }
    return at->second;
}

SPOTTER_BODY bool diff_side::awaits(step_id step) const {
    return run() != nullptr && !run()->over() && run()->state(step) == step_state::pending;
}

SPOTTER_BODY recorded_value diff_side::at(std::string const& name, step_id step) const {
    if (run() != nullptr) { return track_of(name).at(step); }
    return std::get<dump>(from_).at(name, step);
}

SPOTTER_BODY detail::value_hash diff_side::hash(std::string const& name, step_id step) const {
    trial const* const it = run();
    return it != nullptr ? detail::recorded_hash(*it, name, step) : detail::value_hash{};
}

SPOTTER_BODY measurement diff_side::stat(std::string const& name, step_id step, statistic which) const {
    if (run() != nullptr) {
        result<double> const found = track_of(name).stat(step, which);
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
