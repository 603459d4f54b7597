// SPDX-License-Identifier: Apache-2.0
// Command line, `export`: TensorBoard's event files, and the files of its embedding projector.
#include "../arguments.hpp"
#include "../folders.hpp"
#include "../new_file.hpp"
#include "job.hpp"

#include <spotter/export/follow_run.hpp>
#include <spotter/export/tensorboard.hpp>
#include <spotter/export/text.hpp>
#include <spotter/workbench/export.hpp>

#include <fmt/format.h>

namespace spotter_tool {

namespace {

using namespace spotter;

// GLOB, GLOB=8x8 or GLOB=32x32x3.
[[nodiscard]] result<picture_choice> read_picture(std::string const& word) {
    picture_choice chosen{word, {}};
    std::size_t const cut = word.rfind('=');
    if (cut == word.npos) { return chosen; }
    chosen.names = word.substr(0, cut);
    std::uint32_t sizes[3] = {0, 0, 1};
    char const* at = word.data() + cut + 1;
    char const* const end = word.data() + word.size();
    std::size_t read = 0;
    for (bool more = true; more && read < 3; ++read) {
        auto const [next, code] = std::from_chars(at, end, sizes[read]);
        if (code != std::errc{} || sizes[read] == 0 || sizes[read] > 16384) { break; }
        more = next != end && *next == 'x';
        at = more ? next + 1 : next;
    }
    if (at != end || read < 2) {
        return error_of(errc::bad_config, "\"", std::string_view{word}.substr(0, 60),
                        "\" names no pictures: write it like 'input=28x28' or ",
                        "'input=32x32x3' (height, width, channels)");
    }
    chosen.shape = picture_shape{sizes[0], sizes[1], sizes[2]};
    return chosen;
}

// The labels of each of `points` samples at a step.
[[nodiscard]] std::vector<point_labels> labels_at(export_job const& job, step_id step, std::uint64_t points) {
    std::vector<point_labels> found;
    for (std::string const& name : job.run.names(filter{.step = step})) {
        track const tensor = job.run[name];
        role const what = tensor.info().role;
        if (what != role::label && what != role::prediction) { continue; }
        recorded_value const value = tensor.at(step);
        if (!value || value.view().count != points) { continue; }
        point_labels column{name, {}};
        std::uint64_t replaced = 0;
        for (double const each : row_major_numbers(value.view(), replaced)) {
            column.words.push_back(number_text(each));
        }
        found.push_back(std::move(column));
    }
    return found;
}

// Of each tensor the last step; they are in the order of tensors.
[[nodiscard]] std::vector<item> latest_of(std::vector<item> const& items) {
    std::vector<item> latest;
    for (item const& each : items) {
        if (!latest.empty() && latest.back().title == each.title) { latest.pop_back(); }
        latest.push_back(each);
    }
    return latest;
}

}  // namespace

error to_tensorboard(export_job& job) {
    tensorboard_options options;
    options.which = job.choice;
    options.replace = job.wanted.force;
    for (std::string const& each : job.wanted.images) {
        auto const chosen = read_picture(each);
        if (!chosen) { return chosen.error(); }
        options.pictures.push_back(*chosen);
    }
    export_progress const bar{job};
    tensorboard_writer writer{tidy(job.wanted.out), options};
    auto const take = [&] { return writer.advance(job.run); };
    error why = job.wanted.follow ? follow_run(job.run, take, wait_for_more) : take();
    writer.each_file([&](event_file const& each) { job.done.files.push_back(each.path()); });
    job.take(writer.counts());
    if (!why && job.is_empty()) { why = system_files().make_folder(tidy(job.wanted.out)); }
    if (!why && writer.counts().values == 0 && !job.is_empty()) {
        why = {errc::no_payload, "nothing that was chosen can be shown: no number, statistic, text or values were "
                                 "kept (`spotter ls` lists what there is)"};
    }
    return why;
}

// Each tensor at the given step, or at the last one with values.
error to_projector(export_job& job) {
    std::vector<item> items;
    if (error const why = find_values(job, items)) { return why; }
    std::vector<item> const latest = latest_of(items);
    if (error const why = too_long_for_files(latest)) { return why; }
    progress bar{"export", {latest.size(), "values"}};
    std::string const folder = tidy(job.wanted.out);
    std::string config;
    auto const write = [&](std::string const& name, std::string const& text) {
        job.done.files.push_back(folder + '/' + name);
        return write_file(job.done.files.back(), text, job.wanted.force);
    };
    for (item const& each : latest) {
        bar.advance(1);
        recorded_value const value = job.track_of(each).at(each.step);
        if (job.left_out(each, value)) { continue; }
        if (!value) { return value.error(); }
        bool const gradient = job.run[each.name].info().role == role::gradient && job.wanted.names.empty();
        std::string const points = projector_points(value.view(), job.done.left_out);
        if (points.empty() || gradient) { continue; }
        std::string const stem =
            fmt::format("projector/{}/{}-{}", file_name_of(each.title), name_of(each.step.mode), each.step.index);
        std::uint64_t const count = value.view().shape.size[0];
        std::vector<point_labels> const columns = labels_at(job, each.step, count);
        if (error const why = write(stem + ".tsv", points)) { return why; }
        std::string const labels = columns.empty() ? "" : stem + ".labels.tsv";
        if (!labels.empty()) {
            if (error const why = write(labels, projector_labels(columns, static_cast<std::size_t>(count)))) {
                return why;
            }
        }
        config += projector_entry(key_of(each), stem + ".tsv", labels);
        ++job.done.tensors;
    }
    if (config.empty() && !job.is_empty()) {
        return {errc::no_payload, "none of the chosen tensors has values with two axes or more; the first axis counts "
                                  "points: choose a layer's activations with --name"};
    }
    return write("projector_config.pbtxt", config);
}

}  // namespace spotter_tool
