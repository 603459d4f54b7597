// SPDX-License-Identifier: Apache-2.0
// Command line, `export`: chooses the format, the names and the steps, and reports the result.
#include "arguments.hpp"
#include "export/job.hpp"
#include "folders.hpp"
#include "nearest.hpp"
#include "new_file.hpp"
#include "outcome.hpp"
#include "output.hpp"

#include <spotter/core/guard.hpp>

#include <algorithm>

namespace spotter_tool {

namespace {

using namespace spotter;

struct export_format {
    std::string_view name;
    std::string_view ending = {};  // of the file names that select it
    error (*write)(export_job&);
    bool is_text = false;  // can be written to standard output
    bool follows = false;
    bool replaces = false;                // while it follows: the whole file each time, which standard output cannot
    std::string_view inexpressible = {};  // what `written::left_out` counts; needed by a format that counts
};
// Everything that names the formats, in help, completion and refusals, is made of this table.
constexpr export_format formats[] = {
    {.name = "npy", .ending = ".npy", .write = &to_npy},
    {.name = "npz", .ending = ".npz", .write = &to_npz},
    {.name = "safetensors",
     .ending = ".safetensors",
     .write = &to_safetensors,
     .inexpressible = "tensors of a type that safetensors has not, left out"},
    {.name = "csv", .ending = ".csv", .write = &to_csv, .is_text = true},
    {.name = "jsonl", .ending = ".jsonl", .write = &to_json_lines, .is_text = true, .follows = true},
    {.name = "parquet", .ending = ".parquet", .write = &to_parquet},
    {.name = "mcap",
     .ending = ".mcap",
     .write = &to_mcap,
     .inexpressible = "numbers that are not finite, written as null"},
    {.name = "trace",
     .ending = ".json",
     .write = &to_trace,
     .is_text = true,
     .inexpressible = "numbers that are not finite, left out"},
    {.name = "perfetto",
     .ending = ".pftrace",
     .write = &to_perfetto,
     .inexpressible = "numbers that are not finite, left out"},
    {.name = "openmetrics",
     .ending = ".openmetrics",
     .write = &to_openmetrics,
     .is_text = true,
     .follows = true,
     .replaces = true},
    {.name = "prometheus",
     .ending = ".prom",
     .write = &to_prometheus_text,
     .is_text = true,
     .follows = true,
     .replaces = true},
    {.name = "tensorboard", .write = &to_tensorboard, .follows = true},
    {.name = "projector", .write = &to_projector, .inexpressible = "numbers that are not finite, written as 0"},
};

// "a, b and c", with "and" or another word.
[[nodiscard]] std::string enumerated(std::vector<std::string_view> const& words, std::string_view last) {
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i) {
        all += i == 0 ? "" : i + 1 < words.size() ? ", " : fmt::format(" {} ", last);
        all += words[i];
    }
    return all;
}

// The formats for which `has` is true.
template <class Has>
[[nodiscard]] std::string names_of_formats(Has has) {
    std::vector<std::string_view> names;
    for (export_format const& each : formats) {
        if (has(each)) { names.push_back(each.name); }
    }
    return enumerated(names, "and");
}

// The extension of a path, with its dot; a leading dot starts none.
[[nodiscard]] std::string_view ending_of(std::string_view path) {
    std::string_view const name = path.substr(path.rfind('/') + 1);
    std::size_t const dot = name.rfind('.');
    bool const some = dot != name.npos && dot > 0 && name != ".." && dot + 1 < name.size();
    return some ? name.substr(dot) : std::string_view{};
}

// The format by name, or else by the file's extension. A path without an extension is a folder of .npy files.
[[nodiscard]] result<export_format const*> format_of(export_options const& wanted) {
    std::string_view const ending = ending_of(wanted.out);
    std::string_view name = wanted.format;
    if (name.empty() && wanted.out == "-") { name = "csv"; }
    if (name.empty() && ending.empty()) { name = "npy"; }
    for (export_format const& each : formats) {
        if (name.empty() ? each.ending == ending : each.name == name) { return &each; }
    }
    std::vector<std::string> known;
    for (export_format const& each : formats) {
        if (!each.ending.empty()) { known.emplace_back(each.ending); }
    }
    error why{errc::bad_config, "no format has the ending \""};
    why.what << ending.substr(0, 40) << "\"";
    auto const meant = nearest(ending, known);
    if (meant) { why.what << ": did you mean " << *meant << '?'; }
    why.what << (meant ? " " : ": ") << "--format says which one is meant, and a folder has no ending";
    return why;
}

[[nodiscard]] error clash_of(export_options const& wanted, export_format const& format) {
    if (wanted.out == "-" && (!format.is_text || wanted.json)) {
        return error_of(errc::bad_config, "only ",
                        names_of_formats([](export_format const& each) { return each.is_text; }),
                        " go to standard output, and then without --json: give a file");
    }
    if (wanted.follow && (!format.follows || (format.replaces && wanted.out == "-"))) {
        return error_of(errc::bad_config, "--follow works with ",
                        names_of_formats([](export_format const& each) { return each.follows && !each.replaces; }),
                        ", and into a file with ",
                        names_of_formats([](export_format const& each) { return each.replaces; }));
    }
    return {};
}

[[nodiscard]] bool is_folder(std::string const& path) {
    return system_files().kind_of(path).value_or(path_kind::missing) == path_kind::folder;
}

// The parent folder must exist: creating it unasked would hide a misspelt path.
[[nodiscard]] error look_at_place(std::string const& out) {
    std::string const folder = folder_above(tidy(out));
    if (system_files().kind_of(folder).value_or(path_kind::other) != path_kind::missing) { return {}; }
    error why{errc::bad_config, "there is no folder \""};
    why.what << std::string_view{folder}.substr(folder.size() > 150 ? folder.size() - 150 : 0) << "\": ";
    std::vector<std::string> beside;
    auto const take = [](void* context, std::string_view name) noexcept {
        return guarded([&] { static_cast<std::vector<std::string>*>(context)->emplace_back(name); });
    };
    std::string const outer = folder_above(folder);
    (void)system_files().list(outer, take, &beside);
    std::erase_if(beside, [&](std::string const& each) { return !is_folder(outer + '/' + each); });
    if (auto const meant = nearest(folder.substr(folder.rfind('/') + 1), beside)) {
        why.what << "did you mean \"" << std::string_view{*meant}.substr(0, 60) << "\"? Else ";
    }
    why.what << "make it first";
    return why;
}

// Whether there is anything of what was chosen at the step that was chosen.
[[nodiscard]] error look_for_step(export_job const& job) {
    step_id const step = *job.choice.step;
    std::vector<step_id> const closed =
        job.wanted.names.size() == 1 && job.names.size() == 1 ? job.run[job.names[0]].steps() : job.run.steps();
    std::vector<std::string> const there = job.run.names(filter{.step = step});  // also of a step that was not closed
    bool const is_there = std::any_of(there.begin(), there.end(),
                                      [&](std::string const& each) {
                                          return std::binary_search(job.names.begin(), job.names.end(), each);
                                      }) ||
                          (job.wanted.names.empty() && std::find(closed.begin(), closed.end(), step) != closed.end());
    if (is_there && job.choice.has_step(step)) { return {}; }
    error why{errc::no_such_step, "nothing that was chosen is at "};
    why.what << step_text(step);
    if (std::string const hint = steps_hint("something", closed, step); !is_there && !hint.empty()) {
        why.what << "; " << hint;
    }
    return why;
}

// Selects the names and steps.
[[nodiscard]] error choose(export_job& job) {
    export_options const& wanted = job.wanted;
    if (error const why = read_given(wanted.step, read_step, job.choice.step)) { return why; }
    if (error const why = read_given(wanted.mode, read_mode, job.choice.mode)) { return why; }
    for (std::string const& stat : wanted.stats) {
        auto const which = read_statistic(stat);
        if (!which) { return which.error(); }
        job.choice.statistics.push_back(*which);
    }
    job.choice.names = wanted.names;
    std::set<std::string> chosen;
    if (wanted.names.empty()) {
        std::vector<std::string> const all = job.run.names();
        chosen.insert(all.begin(), all.end());
    }
    for (std::string const& pattern : wanted.names) {
        if (error const why = check_glob(pattern); why && !job.run[pattern]) { return why; }
        std::vector<std::string> const names = job.run[pattern] ? std::vector{pattern} : job.run.names(pattern);
        chosen.insert(names.begin(), names.end());
        if (names.empty() && !wanted.follow) {  // it may come later
            error why{errc::no_such_name, "no name in this run matches \""};
            why.what << std::string_view{pattern}.substr(0, 100) << "\": `spotter ls` lists what there is";
            if (std::string const hint = name_hint(pattern, job.run.names()); !hint.empty()) {
                why.what << "; " << hint;
            }
            return why;
        }
    }
    job.names.assign(chosen.begin(), chosen.end());
    return job.choice.step && !wanted.follow ? look_for_step(job) : error{};
}

void warn(export_job const& job, export_format const& format) {
    for (std::string const& type : job.done.as_bits) {
        say(fmt::format(
                "spotter export: NumPy has no {}: these were written as their bits (--widen makes them float32)\n",
                type),
            stderr);
    }
    if (job.done.left_out > 0) {
        say(fmt::format("spotter export: {}: {}\n", format.inexpressible, job.done.left_out), stderr);
    }
    constexpr std::size_t most = 20;  // listed individually; the document has all of them
    for (std::size_t i = 0; i < (std::min)(most, job.done.damaged.size()); ++i) {
        say(fmt::format("spotter export: {} cannot be read and was left out\n", plain(job.done.damaged[i])), stderr);
    }
    if (job.done.damaged.size() > most) {
        say(fmt::format("spotter export: and {} more ({} in all)\n", job.done.damaged.size() - most,
                        job.done.damaged.size()),
            stderr);
    }
    if (!job.done.damaged.empty()) { say("spotter export: `spotter verify` says what is damaged\n", stderr); }
}

void conclude(export_job const& job, std::string_view format, std::string const& path, json const& loss) {
    written const& done = job.done;
    if (job.wanted.json) {
        json document = document_of("export", path);
        document["loss"] = loss;
        document["format"] = format;
        document["files"] = done.files;
        document["tensors"] = done.tensors;
        document["rows"] = done.rows;
        document["as_bits"] = done.as_bits;
        document["left_out"] = done.left_out;
        document["damaged"] = done.damaged;
        return say_document(document);
    }
    if (job.to_output()) { return; }
    // A value is the content of one name at one step. A point is one number, text, histogram or picture; a value may
    // give several points.
    if (done.tensors > 0) {
        say(fmt::format("{}: {} in {}\n", job.wanted.out, plural(done.tensors, "value"),
                        plural(done.files.size(), "file")));
    } else {
        say(fmt::format("{}: {}\n", job.wanted.out, plural(done.rows, format == "csv" ? "row" : "point")));
    }
}

}  // namespace

std::vector<std::string> export_formats() {
    std::vector<std::string> names;
    for (export_format const& each : formats) { names.emplace_back(each.name); }
    return names;
}

std::string export_followers() {
    return names_of_formats([](export_format const& each) { return each.follows; });
}

std::string export_endings() {
    std::vector<std::string_view> endings;
    for (export_format const& each : formats) {
        if (!each.ending.empty()) { endings.push_back(each.ending); }
    }
    return enumerated(endings, "or");
}

int export_to(export_options const& wanted) {
    std::string const path = tidy(wanted.path);
    auto const refuse = [&](error const& why) { return fail(why, wanted.json, "export", path); };
    auto const chosen = format_of(wanted);
    if (!chosen) { return refuse(chosen.error()); }
    export_format const& format = **chosen;
    if (error const why = clash_of(wanted, format)) { return refuse(why); }
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return refuse(why); }
    auto run = open_trial(path);
    if (!run) { return refuse(run.error()); }
    export_job job{wanted, *run, {}, {}, {}, bytes_of(all)};
    error why = job.to_output() ? error{} : look_at_place(wanted.out);
    if (!why) { why = choose(job); }
    if (!why) { why = format.write(job); }
    // Checked after the work, which may have followed the run to its end.
    outcome end{"export"};
    json const loss = end.look_at(*run);
    if (why) { return end.code(static_cast<exit_code>(refuse(why))); }
    warn(job, format);
    conclude(job, format.name, path, loss);
    if (!job.done.damaged.empty()) { end.note(something_lost); }
    return end.code();
}

}  // namespace spotter_tool
