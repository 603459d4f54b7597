// SPDX-License-Identifier: Apache-2.0
// A read-only file system of given bytes: a few files in one folder and its subfolders.
#pragma once

#include <spotter/file/file_system.hpp>

#include <map>
#include <string>
#include <vector>

namespace spotter_test {

using contents = std::vector<std::byte>;
using folder_contents = std::map<std::string, contents, std::less<>>;  // by path

// Opening copies nothing: a test may change a file in place between two readings, not during one.
class frozen_files final : public spotter::file_system {
public:
    static constexpr std::string_view folder = "run";
    folder_contents files{};

    spotter::result<spotter::opened_file> create(std::string_view) noexcept override { return refusal(); }
    spotter::result<spotter::opened_file> open_append(std::string_view) noexcept override { return refusal(); }
    spotter::error append(spotter::opened_file, std::span<std::byte const>) noexcept override { return refusal(); }
    spotter::error sync(spotter::opened_file) noexcept override { return {}; }
    spotter::error close(spotter::opened_file) noexcept override { return {}; }
    spotter::result<spotter::path_kind> kind_of(std::string_view name) noexcept override {
        if (files.contains(name)) { return spotter::path_kind::file; }
        std::string const begin = std::string{name} + '/';
        auto const first = files.lower_bound(begin);
        bool const holds = first != files.end() && first->first.starts_with(begin);
        return name == folder || holds ? spotter::path_kind::folder : spotter::path_kind::missing;
    }
    spotter::result<std::uint64_t> size_of(std::string_view name) noexcept override {
        auto const at = files.find(name);
        if (at == files.end()) { return missing(); }
        return std::uint64_t{at->second.size()};
    }
    spotter::error rename(std::string_view, std::string_view) noexcept override { return refusal(); }
    spotter::error remove(std::string_view) noexcept override { return refusal(); }
    spotter::error make_folder(std::string_view) noexcept override { return refusal(); }
    spotter::error list(std::string_view path, spotter::name_taker take, void* context) noexcept override {
        std::string const begin = std::string{path} + '/';
        std::string before;
        for (auto at = files.lower_bound(begin); at != files.end() && at->first.starts_with(begin); ++at) {
            std::string const name = at->first.substr(begin.size(), at->first.find('/', begin.size()) - begin.size());
            if (name != before && !take(context, name)) { break; }
            before = name;
        }
        return {};
    }
    spotter::result<spotter::file_mapping> map(std::string_view name) noexcept override {
        auto const at = files.find(name);
        if (at == files.end()) { return missing(); }
        return spotter::file_mapping{at->second};
    }
    void unmap(spotter::file_mapping) noexcept override {}
    spotter::result<spotter::opened_file> lock(std::string_view) noexcept override { return refusal(); }
    void unlock(spotter::opened_file) noexcept override {}
    spotter::result<bool> is_locked(std::string_view) noexcept override { return false; }

private:
    static spotter::error refusal() noexcept { return {spotter::errc::unwritable, "these files are only read"}; }
    static spotter::error missing() noexcept { return {spotter::errc::not_a_run, "there is no such file"}; }
};

}  // namespace spotter_test
