// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of side.hpp.
#include "diff/side.hpp"

#include "diff/zlib_inflate.hpp"

#include <spotter/stat/summarize.hpp>
#include <spotter/trial/recorded_events.hpp>

#include <algorithm>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

// The content of one worker's record, in its order.
static void add_worker(worker_index const& its, step_index& into) {
    struct seen {
        step_id step;
        std::uint32_t name;
    };
    constexpr std::uint32_t unknown = ~std::uint32_t{0};
    std::vector<std::uint32_t> number_of_id(its.tensors().size(), unknown);
    std::vector<seen> open;                   // rows since the last close
    std::vector<std::uint32_t> names, place;  // of the step; place: index of a name's last row
    auto const meet = [&](recorded_row const& row) {
        rows::head const head = head_of(its, row);
        if (head.id == no_tensor || !head.has_step) { return; }
        std::uint32_t& number = number_of_id[head.id];
        if (number == unknown) { number = into.number_of(its.tensors()[head.id]->name); }
        open.push_back({head.step, number});
    };
    auto const close = [&](rows::close const& end) {
        place.resize(into.names().size());
        std::erase_if(open, [&](seen const& each) { return each.step != end.step; });
        for (std::uint32_t i = 0; i < open.size(); ++i) { place[open[i].name] = i; }
        names.clear();
        for (std::uint32_t i = 0; i < open.size(); ++i) {
            if (place[open[i].name] == i) { names.push_back(open[i].name); }
        }
        open.clear();
        if (!names.empty()) { into.put(end.step, names); }
    };
    recorded_events{its}.advance(recorded_sink{meet, close});
}

step_index index_of(trial const& run) {
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

// With the choice of track::at: the lowest worker that observed it there, the last of several closes, the last of
// several observations.
[[nodiscard]] static value_hash recorded_hash(trial const& run, std::string const& name, step_id step) {
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
            !has(stats.has, stats_mask::hash)) {
            return {};
        }
        return {true, stats.hash, tensor->info.type, row.has_shape || row.has_values ? row.shape : tensor->info.shape};
    }
    return {};
}

track const& opened_side::track_of(std::string const& name) const {
    auto at = tracks_.find(name);
    if (at == tracks_.end()) { at = tracks_.emplace(name, (*run())[name]).first; }
    return at->second;
}

bool opened_side::awaits(step_id step) const {
    return run() != nullptr && !run()->over() && run()->state(step) == step_state::pending;
}

role opened_side::role_of(std::string const& name) const {
    if (run() == nullptr) { return role::other; }
    for (auto const& each : run()->readers()) {
        if (recorded_tensor const* const tensor = each->index().find(name)) { return tensor->info.role; }
    }
    return role::other;
}

recorded_value opened_side::at(std::string const& name, step_id step) const {
    if (run() != nullptr) { return track_of(name).at(step); }
    return std::get<dump>(from_).at(name, step);
}

value_hash opened_side::hash(std::string const& name, step_id step) const {
    trial const* const it = run();
    return it != nullptr ? recorded_hash(*it, name, step) : value_hash{};
}

measurement opened_side::stat(std::string const& name, step_id step, statistic which) const {
    if (run() != nullptr) {
        result<double> const found = track_of(name).stat(step, which);
        return found ? measurement{*found, true} : measurement{};
    }
    recorded_value const value = at(name, step);
    return value ? recorded_measurement(which, summarize(value.view(), which.needs())) : measurement{};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

diff_side::diff_side(trial run) : its_{std::make_unique<detail::opened_side>(std::move(run))} {}
diff_side::diff_side(std::unique_ptr<detail::opened_side const> opened) noexcept : its_{std::move(opened)} {}
diff_side::diff_side(diff_side&& other) noexcept = default;
diff_side& diff_side::operator=(diff_side&& other) noexcept = default;
diff_side::~diff_side() = default;

std::string const& diff_side::path() const noexcept { return its_->path(); }
trial const* diff_side::run() const noexcept { return its_->run(); }
std::size_t diff_side::steps() const noexcept { return its_->index().steps().size(); }
recorded_value diff_side::at(std::string const& name, step_id step) const { return its_->at(name, step); }

// Counted as long as it takes to find what is where.
static diff_side counted_side(trial run, work_count* come_by) {
    auto const count = [](trial const& of, work_count* bytes) {
        for (auto const& each : of.readers()) { each->index().count_reading(bytes); }
    };
    count(run, come_by);
    for (auto const& each : run.readers()) { each->index().complete(); }
    diff_side side{std::move(run)};
    count(*side.run(), nullptr);
    return side;
}

result<diff_side> open_side(std::string_view path, file_system& files, work_count* come_by) {
    result<trial> run = open_trial(path, files);
    if (run) { return counted_side(std::move(*run), come_by); }
    auto const kind = files.kind_of(path);
    // A damaged run is not a dump: its folder has no such files, and the run's error is the one to report.
    bool const may_be_dump = run.error().code == errc::not_a_run || (kind && *kind == path_kind::file);
    if (!may_be_dump) { return run.error(); }
    result<dump> found = open_dump(path, inflate_here(), files);
    if (!found) { return found.error(); }
    return diff_side{std::make_unique<detail::opened_side const>(std::move(*found), path)};
}

}  // namespace spotter::inline SPOTTER_ABI
