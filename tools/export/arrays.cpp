// SPDX-License-Identifier: Apache-2.0
// Command line, `export`: values as .npy, .npz and .safetensors.
#include "../folders.hpp"
#include "../new_file.hpp"
#include "job.hpp"

#include <spotter/export/safetensors.hpp>
#include <spotter/export/text.hpp>
#include <spotter/workbench/export.hpp>
#include <spotter/workbench/npy.hpp>

#include <fmt/format.h>

namespace spotter_tool {

namespace {

using namespace spotter;

[[nodiscard]] small_floats how(export_job const& job) {
    return job.wanted.widen ? small_floats::widened : small_floats::bits;
}
void count(export_job& job, tensor_ref const& view, std::uint64_t values = 1) {
    job.done.tensors += values;
    if (npy_type_of(view.type, how(job)).is_bits) { job.done.as_bits.emplace(name_of(view.type)); }
}

// Keys of unreadable values, one a line, as stored in archives; empty where there are none.
[[nodiscard]] std::string unreadable_note(std::vector<std::string> const& damaged) {
    std::string note;
    for (std::string const& each : damaged) { note += (note.empty() ? "unreadable:\n" : "\n") + each; }
    return note;
}

[[nodiscard]] error write_npy(export_job& job, std::string const& path, tensor_ref const& view) {
    npy_parts const parts{view, how(job)};
    new_file file{path, job.wanted.force};
    (void)file.put(parts.header()), (void)file.put(parts.values());  // finish() returns their error
    error const why = file.finish();
    if (!why) { job.done.files.push_back(path); }
    return why;
}

}  // namespace

std::string key_of(item const& it) { return fmt::format("{}@{}:{}", it.title, name_of(it.step.mode), it.step.index); }

std::string file_name_of(std::string_view name) {
    std::string safe;
    for (char const letter : name) {
        bool const first = safe.empty() || safe.back() == '/';
        if (is_usual_letter(letter) || (!first && (letter == '.' || letter == '/'))) {
            safe += letter;
        } else {
            safe += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
        }
    }
    if (!safe.empty() && safe.back() == '/') { safe.replace(safe.size() - 1, 1, "%2F"); }
    return safe.empty() ? "%" : safe;
}

error find_values(export_job const& job, std::vector<item>& items) {
    error why{errc::no_payload, "no values were kept of what was chosen: only statistics (export them as .csv)"};
    bool const several = job.run.readers().size() > 1 || job.run.expected_workers() > 1;
    for (auto const& reader : job.run.readers()) {
        std::uint32_t const number = reader->number();
        for (std::string const& name : job.names) {
            std::string const title = several ? fmt::format("worker-{}/{}", number, name) : name;
            track const tensor = job.run[name].of(worker{number});
            if (job.choice.step) {
                recorded_value const value = tensor.at(*job.choice.step);
                bool const damaged = value.error().code == errc::corrupt;
                if (value || damaged) { items.push_back({name, *job.choice.step, number, title}); }
                if (value.error() && !damaged && !job.wanted.names.empty()) { why = value.error(); }
                continue;
            }
            for (step_id const step : tensor.payload_steps()) {
                if (job.choice.has_step(step)) { items.push_back({name, step, number, title}); }
            }
        }
    }
    return items.empty() && !job.is_empty() ? why : error{};
}

error to_npz(export_job& job) {
    recorded_arrays arrays{job.run, job.choice, job.names};
    progress bar{"export", {arrays.count(), "values"}};
    new_file file{job.wanted.out, job.wanted.force};
    npz_writer writer{[&](std::span<std::byte const> bytes) { return file.put(bytes); }, how(job)};
    error const why = arrays.each([&](recorded_array const& it) {
        if (error const failed = writer.add(it.key, it.view)) { return failed; }
        if (it.values > 0) { count(job, it.view, it.values); }
        bar.advance(it.values);
        return error{};
    });
    if (why && !(why.code == errc::no_payload && job.is_empty())) { return why; }
    job.done.damaged = arrays.damaged();
    if (error const failed = writer.finish(unreadable_note(job.done.damaged))) { return failed; }
    job.done.files.push_back(job.wanted.out);
    return file.finish();
}

error too_long_for_files(std::vector<item> const& items) {
    constexpr std::size_t most = 240;  // of 255, for step and ending
    for (item const& each : items) {
        std::string const path = file_name_of(each.title);
        for (std::size_t at = 0, cut = 0; cut != path.npos; at = cut + 1) {
            cut = path.find('/', at);
            if ((std::min)(cut, path.size()) - at <= most) { continue; }
            return error_of(errc::bad_config, "\"", std::string_view{each.title}.substr(0, 60),
                            "...\" is too long a name for a file: choose others with --name, or give an .npz file");
        }
    }
    return {};
}

error to_npy(export_job& job) {
    std::vector<item> items;
    if (error const why = find_values(job, items)) { return why; }
    progress bar{"export", {items.size(), "values"}};
    bool const single = job.wanted.out.ends_with(".npy");
    if (single && job.is_empty()) {
        double const none = 0;
        return write_npy(job, job.wanted.out, view_of(&none, {0}));
    }
    if (items.empty()) { return system_files().make_folder(tidy(job.wanted.out)); }
    if (single && items.size() != 1) {
        return error_of(errc::bad_config, "a .npy file holds one tensor, and ", items.size(),
                        " were chosen: give --name and --step, an .npz file, or a folder");
    }
    if (error const why = single ? error{} : too_long_for_files(items)) { return why; }
    for (item const& each : items) {
        std::string const path = single ? job.wanted.out
                                        : fmt::format("{}/{}/{}-{}.npy", tidy(job.wanted.out), file_name_of(each.title),
                                                      name_of(each.step.mode), each.step.index);
        recorded_value const value = job.track_of(each).at(each.step);
        if (job.left_out(each, value)) { continue; }
        if (!value) { return value.error(); }
        if (error const why = write_npy(job, path, value.view())) { return why; }
        count(job, value.view());
        bar.advance(1);
    }
    if (job.done.damaged.empty() || single) { return {}; }
    std::string const note = tidy(job.wanted.out) + "/unreadable.txt";
    error const why = write_file(note, utf8_text(unreadable_note(job.done.damaged)) + '\n', true);
    if (!why) { job.done.files.push_back(note); }
    return why;
}

// The header comes first and has each tensor's position. Values are therefore read twice, with at most one array in
// memory.
error to_safetensors(export_job& job) {
    recorded_arrays arrays{job.run, job.choice, job.names};
    progress bar{"export", {arrays.count(), "values", 2}};
    safetensors_header header;
    auto const is_known = [](recorded_array const& it) { return !safetensors_type_of(it.view.type).empty(); };
    error why = arrays.each([&](recorded_array const& it) {
        bar.advance(it.values);
        if (is_known(it)) { return header.add(it.key, it.view); }
        job.done.left_out += it.values;
        return error{};
    });
    bool const nothing = why.code == errc::no_payload && job.is_empty();
    if (why && !nothing) { return why; }
    new_file file{job.wanted.out, job.wanted.force};
    if (!arrays.damaged().empty()) { header.note("unreadable", unreadable_note(arrays.damaged())); }
    why = file.put(header.text());
    if (!why && !nothing) {
        why = arrays.each([&](recorded_array const& it) {
            bar.advance(it.values);
            if (!is_known(it)) { return error{}; }
            job.done.tensors += it.values;
            return file.put(row_major_bytes(it.view));
        });
    }
    if (why) { return why; }
    job.done.damaged = arrays.damaged();
    job.done.files.push_back(job.wanted.out);
    return file.finish();
}

}  // namespace spotter_tool
