// SPDX-License-Identifier: Apache-2.0
// Command line: the folders and files of a run: its workers, their segments and sidecars.
#pragma once

#include "output.hpp"

#include <spotter/file/system.hpp>
#include <spotter/format/names.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/walker.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace spotter_tool {

// One recording: the run's folder (worker 0) or `worker-k` below it.
struct recording {
    std::uint32_t worker = 0;
    std::string path{};
    std::vector<std::uint32_t> segments{};  // numbers, ascending
    std::vector<std::uint32_t> sidecars{};
    spotter::error why{};  // its folder could not be listed
};

// The file system of that path; that of the machine if there is none, which find_recordings reports.
[[nodiscard]] inline spotter::file_system& files_for(std::string_view path) noexcept {
    auto const at = spotter::files_at(path);
    return at ? **at : spotter::system_files();
}

// Why a verb that writes beside a run cannot do so in an object store.
[[nodiscard]] inline spotter::error not_in_a_store(std::string_view path) {
    if (!path.starts_with("s3://")) { return {}; }
    return {spotter::errc::bad_config,
            "what lies in an object store is only read: `spotter sync` it into a folder first"};
}

// The mapped bytes of a file, during the object's lifetime.
class mapped_file {
public:
    explicit mapped_file(std::string const& path) : files_{&files_for(path)} {
        auto const mapping = files_->map(path);
        if (mapping) {
            mapping_ = *mapping;
            if (mapping_.partial) { why_ = files_->fetch({&mapping_.bytes, 1}); }
        } else {
            why_ = mapping.error();
        }
    }
    mapped_file(mapped_file const&) = delete;
    mapped_file& operator=(mapped_file const&) = delete;
    ~mapped_file() { files_->unmap(mapping_); }

    [[nodiscard]] spotter::error const& error() const noexcept { return why_; }
    [[nodiscard]] spotter::byte_view bytes() const noexcept { return why_ ? spotter::byte_view{} : mapping_.bytes; }

private:
    spotter::file_system* files_;
    spotter::file_mapping mapping_{};
    spotter::error why_{};
};

[[nodiscard]] inline std::string file_of(recording const& it, std::uint32_t number, char const* suffix) {
    char name[32];
    std::size_t const size = spotter::name_segment(number, suffix, name);
    return it.path + '/' + std::string{name, size};
}

namespace detail {

[[nodiscard]] inline std::vector<std::string> names_in(std::string const& folder, spotter::error* why = nullptr) {
    std::vector<std::string> names;
    auto const take = [](void* context, std::string_view name) {
        static_cast<std::vector<std::string>*>(context)->emplace_back(name);
        return true;
    };
    spotter::error const failed = files_for(folder).list(folder, take, &names);
    if (why != nullptr) { *why = failed; }
    std::sort(names.begin(), names.end());
    return names;
}

[[nodiscard]] inline recording look_into(std::string const& folder, std::uint32_t worker) {
    recording it{.worker = worker, .path = folder};
    for (std::string const& name : names_in(folder, &it.why)) {
        std::int64_t const segment = spotter::segment_number(name, spotter::layout::data_suffix);
        std::int64_t const sidecar = spotter::segment_number(name, spotter::layout::side_suffix);
        if (segment >= 0) { it.segments.push_back(static_cast<std::uint32_t>(segment)); }
        if (sidecar >= 0) { it.sidecars.push_back(static_cast<std::uint32_t>(sidecar)); }
    }
    std::sort(it.segments.begin(), it.segments.end());
    std::sort(it.sidecars.begin(), it.sidecars.end());
    return it;
}

[[nodiscard]] inline spotter::error no_run(std::string_view path, std::string_view why) {
    return error_of(spotter::errc::not_a_run, path.substr(path.size() > 150 ? path.size() - 150 : 0), ' ', why);
}

}  // namespace detail

// `path` in the form that the reader uses: without trailing slashes.
[[nodiscard]] inline std::string tidy(std::string_view path) {
    while (path.size() > 1 && path.back() == '/') { path.remove_suffix(1); }
    return std::string{path};
}

// The recordings of the run at `path`: its own, if any, and its workers' in order. The text of errc::not_a_run says
// what is there instead.
[[nodiscard]] inline spotter::error find_recordings(std::string const& path, std::vector<recording>& all) {
    auto const at = spotter::files_at(path);
    if (!at) { return at.error(); }
    auto const kind = (*at)->kind_of(path);
    if (!kind) { return kind.error(); }
    if (*kind == spotter::path_kind::missing) { return detail::no_run(path, "does not exist"); }
    if (*kind != spotter::path_kind::folder) {
        return detail::no_run(path, "is a file: give the folder that a hook recorded into");
    }
    recording own = detail::look_into(path, 0);
    if (own.why) { return own.why; }
    if (!own.segments.empty()) { all.push_back(std::move(own)); }
    std::vector<std::string> others;
    for (std::string const& name : detail::names_in(path)) {
        std::string const below = path + '/' + name;
        auto const what = (*at)->kind_of(below);
        if (!what || *what != spotter::path_kind::folder) { continue; }
        std::uint32_t const worker = spotter::worker_of_folder(name);
        recording it = detail::look_into(below, worker);
        bool const unknown = it.why && worker > 0;  // without permission it would look like a worker that is not there
        if (it.segments.empty() && !unknown) { continue; }
        if (worker > 0) {
            all.push_back(std::move(it));
        } else {
            others.push_back(below);
        }
    }
    std::sort(all.begin(), all.end(), [](recording const& a, recording const& b) { return a.worker < b.worker; });
    if (!all.empty()) { return {}; }
    if (others.size() > 5) { others.resize(5), others.emplace_back("..."); }
    return detail::no_run(
        path, others.empty()
                  ? "is no run: it holds no 000000.spot. Give the folder that a hook recorded into (hook.path())"
                  : "is no run, but there are runs in it: " + joined(others));
}

// Bytes of all their segments.
[[nodiscard]] inline std::uint64_t bytes_of(std::vector<recording> const& all) {
    std::uint64_t total = 0;
    for (recording const& each : all) {
        for (std::uint32_t const number : each.segments) {
            total += files_for(each.path).size_of(file_of(each, number, spotter::layout::data_suffix)).value_or(0);
        }
    }
    return total;
}

// Whether a running process writes to it.
[[nodiscard]] inline bool is_live(recording const& it) {
    auto const held = files_for(it.path).is_locked(it.path + '/' + spotter::layout::lock_name);
    return held && *held;
}

}  // namespace spotter_tool
