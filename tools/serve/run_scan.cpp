// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the bodies of run_scan.hpp.
#include "run_scan.hpp"

#include <spotter/format/names.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

namespace spotter_tool::live {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_folders = 200'000;
constexpr int deepest = 12;

[[nodiscard]] double unix_seconds(fs::file_time_type when) {
    auto const here = std::chrono::file_clock::to_sys(when);
    return std::chrono::duration<double>(here.time_since_epoch()).count();
}

[[nodiscard]] std::uint64_t mixed(std::uint64_t seed, std::uint64_t with) noexcept {
    seed ^= with + 0x9E3779B97F4A7C15ULL + (seed << 6U) + (seed >> 2U);
    return seed * 0xFF51AFD7ED558CCDULL;
}

class scanner {
public:
    explicit scanner(std::string const& root) : root_{root} {}

    [[nodiscard]] run_scan look() {
        std::error_code why;
        if (!fs::is_directory(root_, why)) {
            found_.trouble = why ? why.message() : root_ + " is no folder";
            return std::move(found_);
        }
        look_into(root_, "", 0);
        if (!trouble_.empty()) { found_.trouble = trouble_; }
        std::sort(found_.runs.begin(), found_.runs.end(),
                  [](found_run const& a, found_run const& b) { return a.name < b.name; });
        return std::move(found_);
    }

private:
    // The parts of a run in a folder.
    struct content {
        std::vector<std::string> folders{};
        std::vector<std::string> workers{};
        std::uint64_t stamp = 0, bytes = 0;
        double changed = 0;
        bool has_segments = false, has_links = false;
    };

    [[nodiscard]] content content_of(std::string const& path) {
        content it;
        std::error_code why;
        for (fs::directory_iterator at{path, why}, end; !why && at != end; at.increment(why)) { look_at(*at, it); }
        if (why && path == root_) { trouble_ = why.message(); }
        return it;
    }

    void look_at(fs::directory_entry const& entry, content& into) {
        std::error_code ignored;
        std::string const name = entry.path().filename().string();
        bool const segment = spotter::segment_number(name, spotter::layout::data_suffix) >= 0;
        bool const of_record = segment || spotter::segment_number(name, spotter::layout::side_suffix) >= 0;
        bool const worker = spotter::worker_of_folder(name) > 0;
        if (entry.is_symlink(ignored)) {
            into.has_links = into.has_links || of_record || worker;
            found_.links += !of_record && entry.is_directory(ignored) ? 1U : 0U;
        } else if (of_record) {
            into.has_segments = into.has_segments || segment;
            std::uint64_t const bytes = entry.file_size(ignored);
            into.bytes += ignored ? 0 : bytes;
            into.stamp += mixed(std::hash<std::string>{}(name), ignored ? 0 : bytes);
            fs::file_time_type const when = entry.last_write_time(ignored);
            if (!ignored) { into.changed = (std::max)(into.changed, unix_seconds(when)); }
        } else if (entry.is_directory(ignored)) {
            (worker ? into.workers : into.folders).push_back(name);
        }
    }

    void look_into(std::string const& path, std::string const& name, int depth) {
        if (++looked_at_ > most_folders || depth > deepest) {
            found_.cut = true;
            return;
        }
        content own = content_of(path);
        bool is_run = own.has_segments;
        for (std::string const& worker : own.workers) {
            content const its = content_of(path + '/' + worker);
            is_run = is_run || its.has_segments;
            own.has_links = own.has_links || its.has_links;
            own.stamp = mixed(own.stamp, its.stamp);
            own.bytes += its.bytes;
            own.changed = (std::max)(own.changed, its.changed);
        }
        if (is_run || (own.has_links && own.folders.empty())) {
            found_.runs.push_back({name.empty() ? "." : name, path, own.stamp, own.bytes, own.changed});
            if (!own.has_links) { return; }
            found_.runs.back().refused = "a file of its record is a link, and links are not followed";
            return;
        }
        for (std::string const& each : own.folders) {
            look_into(path + '/' + each, name.empty() ? each : name + '/' + each, depth + 1);
        }
    }

    std::string root_;
    run_scan found_{};
    std::string trouble_{};
    std::size_t looked_at_ = 0;
};

}  // namespace

run_scan scan_runs(std::string const& root) { return scanner{root}.look(); }

}  // namespace spotter_tool::live
