// SPDX-License-Identifier: Apache-2.0
// Command line, `export`: values as .npy, .npz and .safetensors.
#include "../folders.hpp"
#include "../new_file.hpp"
#include "job.hpp"

#include <spotter/export/npz.hpp>
#include <spotter/export/safetensors.hpp>

#include <fmt/format.h>

namespace spotter_tool {

namespace {

using namespace spotter;

[[nodiscard]] small_floats how(export_job const& job) {
    return job.wanted.widen ? small_floats::widened : small_floats::bits;
}
void count(export_job& job, tensor_ref const& view) {
    ++job.done.tensors;
    if (npy_type_of(view.type, how(job)).is_bits) { job.done.as_bits.emplace(name_of(view.type)); }
}
// Of one step a name is enough.
[[nodiscard]] std::string title_of(export_job const& job, item const& it) {
    return job.choice.step ? it.title : key_of(it);
}

}  // namespace

std::string key_of(item const& it) { return fmt::format("{}@{}:{}", it.title, name_of(it.step.mode), it.step.index); }

std::string file_name_of(std::string_view name) {
    std::string safe;
    for (char const letter : name) {
        bool const first = safe.empty() || safe.back() == '/';
        bool const usual = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' ||
                           (letter == '.' && !first) || (letter == '/' && !first);
        if (usual) {
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
    std::vector<item> items;
    if (error const why = find_values(job, items)) { return why; }
    progress bar{"export", items.size()};
    new_file file{job.wanted.out, job.wanted.force};
    npz_writer writer{[&](std::span<std::byte const> bytes) { return file.put(bytes); }, how(job)};
    for (item const& each : items) {
        recorded_value const value = job.track_of(each).at(each.step);
        if (job.left_out(each, value)) { continue; }
        if (!value) { return value.error(); }
        if (error const why = writer.add(title_of(job, each), value.view())) { return why; }
        count(job, value.view());
        bar.advance(1);
    }
    if (error const why = writer.finish()) { return why; }
    job.done.files.push_back(job.wanted.out);
    return file.finish();
}

error to_npy(export_job& job) {
    std::vector<item> items;
    if (error const why = find_values(job, items)) { return why; }
    progress bar{"export", items.size()};
    bool const single = job.wanted.out.ends_with(".npy");
    auto const write = [&](std::string const& path, tensor_ref const& view) {
        npy_parts const parts{view, how(job)};
        new_file file{path, job.wanted.force};
        error why = file.put(parts.header());
        if (!why) { why = file.put(parts.values()); }
        if (!why) { why = file.finish(); }
        if (!why) { job.done.files.push_back(path); }
        return why;
    };
    if (single && job.is_empty()) {
        double const none = 0;
        return write(job.wanted.out, view_of(&none, {0}));
    }
    if (items.empty()) { return system_files().make_folder(tidy(job.wanted.out)); }
    if (single && items.size() != 1) {
        error why{errc::bad_config, "a .npy file holds one tensor, and "};
        why.what << items.size() << " were chosen: give --name and --step, an .npz file, or a folder";
        return why;
    }
    for (item const& each : items) {
        std::string const path = single ? job.wanted.out
                                        : fmt::format("{}/{}/{}-{}.npy", tidy(job.wanted.out), file_name_of(each.title),
                                                      name_of(each.step.mode), each.step.index);
        recorded_value const value = job.track_of(each).at(each.step);
        if (job.left_out(each, value)) { continue; }
        if (!value) { return value.error(); }
        if (error const why = write(path, value.view())) { return why; }
        count(job, value.view());
        bar.advance(1);
    }
    return {};
}

// The header comes first and says where each tensor lies: values are read twice, so that no more than one is in memory.
error to_safetensors(export_job& job) {
    std::vector<item> items, sound;
    if (error const why = find_values(job, items)) { return why; }
    progress bar{"export", 2 * items.size()};
    safetensors_header header;
    for (item const& each : items) {
        bar.advance(1);
        recorded_value const value = job.track_of(each).at(each.step);
        if (job.left_out(each, value)) { continue; }
        if (!value) { return value.error(); }
        error const why = header.add(title_of(job, each), value.view());
        if (why.code == errc::wrong_type) {
            ++job.done.left_out;
            continue;
        }
        if (why) { return why; }
        sound.push_back(each);
    }
    new_file file{job.wanted.out, job.wanted.force};
    if (error const why = file.put(header.text())) { return why; }
    for (item const& each : sound) {
        recorded_value const value = job.track_of(each).at(each.step);
        if (!value) { return value.error(); }
        if (error const why = file.put(row_major_bytes(value.view()))) { return why; }
        ++job.done.tensors;
        bar.advance(1);
    }
    job.done.files.push_back(job.wanted.out);
    return file.finish();
}

}  // namespace spotter_tool
