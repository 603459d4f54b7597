// SPDX-License-Identifier: Apache-2.0
// Command line, `ls`: the names in a run, or its steps.
#include "arguments.hpp"
#include "folders.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <spotter/trial.hpp>

namespace spotter_tool {

namespace {

using namespace spotter;

struct row {
    std::string name, role, type, shape, steps, values, first, last;
};

void print(std::vector<row> const& rows) {
    row const widest = [&] {
        row most{"name", "role", "type", "shape", "steps", "values", "first", "last"};
        auto const grow = [](std::string& width, std::string const& text) {
            if (text.size() > width.size()) { width = text; }
        };
        for (row const& each : rows) {
            grow(most.name, each.name), grow(most.role, each.role), grow(most.type, each.type),
                grow(most.shape, each.shape);
            grow(most.steps, each.steps), grow(most.values, each.values), grow(most.first, each.first);
        }
        return most;
    }();
    auto const line = [&](row const& it) {
        say(fmt::format("{:{}}  {:{}}  {:{}}  {:{}}  {:>{}}  {:>{}}  {:{}}  {}\n", it.name, widest.name.size(), it.role,
                        widest.role.size(), it.type, widest.type.size(), it.shape, widest.shape.size(), it.steps,
                        widest.steps.size(), it.values, widest.values.size(), it.first, widest.first.size(), it.last));
    };
    line({"name", "role", "type", "shape", "steps", "values", "first", "last"});
    for (row const& each : rows) { line(each); }
}

[[nodiscard]] json name_json(track const& tensor, std::vector<step_id> const& steps, std::size_t with_values) {
    tensor_info const info = tensor.info();
    json one = {{"name", std::string{tensor.name()}},
                {"role", std::string{name_of(info.role)}},
                {"type", std::string{name_of(info.type)}}};
    one["shape"] = shape_json(info.shape);
    one["steps"] = steps.size();
    one["values"] = with_values;
    one["loose"] = tensor.loose().size();
    one["first"] = steps.empty() ? json() : step_json(steps.front());
    one["last"] = steps.empty() ? json() : step_json(steps.back());
    return one;
}

// Which tensors and steps are meant.
[[nodiscard]] result<filter> filter_of(ls_options const& wanted) {
    if (error const why = check_glob(wanted.pattern)) { return why; }
    filter which{.pattern = wanted.pattern, .collection = wanted.collection};
    if (error const why = read_given(wanted.mode, read_mode, which.mode)) { return why; }
    if (error const why = read_given(wanted.step, read_step, which.step)) { return why; }
    return which;
}

struct absence {
    error why{};
    std::string hint{};
};
// Which of what was asked for the run does not have.
[[nodiscard]] absence absence_of(trial const& run, filter const& which) {
    std::string const pattern{which.pattern}, collection{which.collection};
    if (!pattern.empty() && !run[pattern] && run.names(filter{.pattern = pattern}).empty()) {
        bool const is_name = pattern.find_first_of("*?[{\\") == std::string::npos;
        return {error_of(errc::no_such_name, is_name ? "there is no \"" : "no name matches \"",
                         std::string_view{pattern}.substr(0, 100), "\" in this run"),
                name_hint(pattern, run.names())};
    }
    std::vector<std::string> known;
    for (recorded_collection const& each : run.collections()) { known.push_back(each.name); }
    if (!collection.empty() && std::find(known.begin(), known.end(), collection) == known.end()) {
        return {error_of(errc::no_such_name, "there is no collection \"", std::string_view{collection}.substr(0, 100),
                         "\" in this run: there are ", std::string_view{joined(known)}.substr(0, 200)),
                name_hint(collection, known)};
    }
    if (which.step && run.names(filter{.step = which.step}).empty()) {
        return {error_of(errc::no_such_step, "nothing is at ", step_text(*which.step), " in this run"),
                steps_hint("something", run.steps(), *which.step)};
    }
    return {};
}

void list_steps(trial const& run, filter const& which, json* into) {
    for (step_id const each : run.steps()) {
        if (which.mode && each.mode != *which.mode) { continue; }
        if (into != nullptr) {
            into->push_back(step_json(each));
        } else {
            say(step_text(each) + '\n');
        }
    }
}

void list_names(trial const& run, std::vector<std::string> const& names) {
    std::vector<row> rows;
    for (std::string const& name : names) {
        track const tensor = run[name];
        std::vector<step_id> const steps = tensor.steps();
        tensor_info const info = tensor.info();
        rows.push_back({plain(name), std::string{name_of(info.role)}, std::string{name_of(info.type)},
                        shape_text(info.shape), std::to_string(steps.size()),
                        std::to_string(tensor.payload_steps().size()), steps.empty() ? "" : step_text(steps.front()),
                        steps.empty() ? "" : step_text(steps.back())});
    }
    print(rows);
}

[[nodiscard]] json names_json(trial const& run, std::vector<std::string> const& names) {
    return json_list(names, [&](std::string const& name) {
        track const tensor = run[name];
        return name_json(tensor, tensor.steps(), tensor.payload_steps().size());
    });
}

}  // namespace

int ls(ls_options const& wanted) {
    std::string const path = tidy(wanted.path);
    auto const refuse = [&](error const& why) { return fail(why, wanted.json, "ls", path); };
    auto const which = filter_of(wanted);
    if (!which) { return refuse(which.error()); }
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return refuse(why); }
    auto const run = open_trial(path);
    if (!run) { return refuse(run.error()); }

    progress bar{"ls", {bytes_of(all)}};
    counted_reading const counting{*run, bar, reading::all};
    json document = document_of("ls", path);
    outcome end{"ls"};
    document["loss"] = end.look_at(*run);
    if (wanted.steps) {
        json& steps = document["steps"] = json::array();
        list_steps(*run, *which, wanted.json ? &steps : nullptr);
        if (wanted.json) { say_document(document); }
        return end.code();
    }
    std::vector<std::string> const names = run->names(*which);
    if (auto const [why, hint] = names.empty() ? absence_of(*run, *which) : absence{}; why) {
        return end.code(fail(why, wanted.json, "ls", path, hint));
    }
    if (wanted.json) {
        document["names"] = names_json(*run, names);
        say_document(document);
    } else if (wanted.names) {
        for (std::string const& name : names) { say(plain(name) + '\n'); }
    } else {
        list_names(*run, names);
    }
    return end.code();
}

}  // namespace spotter_tool
