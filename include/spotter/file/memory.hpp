// SPDX-License-Identifier: Apache-2.0
// File (L1): a file system in memory, for programs without disk access, and for tests.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/file/file_system.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Files live as long as this object, which must outlive recorders and trials that use it. Thread-safe. With a recorder:
//     memory_file_system files;
//     recorder record{"runs/a", {}, files};
//     hook watch{record, plan, rules...};
//     ... open_trial("runs/a", files)
class memory_file_system final : public file_system {
public:
    [[nodiscard]] result<opened_file> create(std::string_view path) noexcept override { return open(path, true); }
    [[nodiscard]] result<opened_file> open_append(std::string_view path) noexcept override { return open(path, false); }
    [[nodiscard]] error append(opened_file file, std::span<std::byte const> bytes) noexcept override {
        return guard([&]() -> error {
            auto const at = open_.find(file.native);
            if (at == open_.end()) { return {errc::io_error, "the file is not open"}; }
            // Mappings share the old bytes, which must not move: append to a copy if there are mappings.
            if (at->second.use_count() > 2) {
                auto larger = std::make_shared<contents>(*at->second);
                for (auto& [name, each] : files_) {
                    if (each == at->second) { each = larger; }
                }
                at->second = larger;
            }
            at->second->insert(at->second->end(), bytes.begin(), bytes.end());
            return {};
        });
    }
    [[nodiscard]] error sync(opened_file) noexcept override { return {}; }
    [[nodiscard]] error close(opened_file file) noexcept override {
        std::lock_guard const hold{mutex_};
        open_.erase(file.native);
        return {};
    }
    [[nodiscard]] result<bool> is_at(opened_file file, std::string_view path) noexcept override {
        std::lock_guard const hold{mutex_};
        auto const open = open_.find(file.native);
        auto const named = files_.find(path);
        if (open != open_.end()) { return named != files_.end() && named->second == open->second; }
        auto const lock = lock_names_.find(file.native);
        return lock != lock_names_.end() && lock->second == path;
    }

    [[nodiscard]] result<path_kind> kind_of(std::string_view path) noexcept override {
        std::lock_guard const hold{mutex_};
        if (files_.contains(path)) { return path_kind::file; }
        return folders_.contains(path) ? path_kind::folder : path_kind::missing;
    }
    [[nodiscard]] result<std::uint64_t> size_of(std::string_view path) noexcept override {
        std::lock_guard const hold{mutex_};
        auto const at = files_.find(path);
        if (at == files_.end()) { return missing(path); }
        return std::uint64_t{at->second->size()};
    }
    [[nodiscard]] result<file_facts> facts_of(std::string_view path) noexcept override {
        std::lock_guard const hold{mutex_};
        auto const at = files_.find(path);
        if (at == files_.end()) { return missing(path); }
        return file_facts{at->second->size(), at->second->identity};
    }
    [[nodiscard]] error rename(std::string_view from, std::string_view to) noexcept override {
        return guard([&]() -> error {
            auto const at = files_.find(from);
            if (at == files_.end()) { return missing(from); }
            auto const bytes = at->second;
            files_.erase(at);
            files_[std::string{to}] = bytes;
            return {};
        });
    }
    [[nodiscard]] error remove(std::string_view path) noexcept override {
        std::lock_guard const hold{mutex_};
        auto const at = files_.find(path);
        if (at == files_.end()) { return missing(path); }
        files_.erase(at);
        return {};
    }
    [[nodiscard]] error make_folder(std::string_view path) noexcept override {
        return guard([&]() -> error {
            for (std::size_t cut = path.find('/'); cut != path.npos; cut = path.find('/', cut + 1)) {
                if (cut > 0) { folders_.insert(std::string{path.substr(0, cut)}); }
            }
            folders_.insert(std::string{path});
            return {};
        });
    }
    [[nodiscard]] error list(std::string_view path, name_taker take, void* context) noexcept override {
        std::lock_guard const hold{mutex_};
        auto const inside = [&](std::string_view whole) {
            return whole.size() > path.size() + 1 && whole.starts_with(path) && whole[path.size()] == '/' &&
                   whole.find('/', path.size() + 1) == whole.npos;
        };
        auto const give = [&](std::string_view whole) {
            return !inside(whole) || take(context, whole.substr(path.size() + 1));
        };
        for (auto const& [name, bytes] : files_) {
            if (!give(name)) { return {}; }
        }
        for (auto const& name : folders_) {
            if (!give(name)) { return {}; }
        }
        return {};
    }

    [[nodiscard]] result<std::size_t> read(std::string_view path, std::uint64_t from,
                                           std::span<std::byte> into) noexcept override {
        std::lock_guard const hold{mutex_};
        auto const at = files_.find(path);
        if (at == files_.end()) { return missing(path); }
        contents const& bytes = *at->second;
        if (from >= bytes.size()) { return std::size_t{0}; }
        auto const rest = std::span{bytes}.subspan(as_size(from));
        std::size_t const count = (std::min)(rest.size(), into.size());
        std::copy_n(rest.begin(), count, into.begin());
        return count;
    }
    [[nodiscard]] result<file_mapping> map(std::string_view path) noexcept override {
        file_mapping view{};
        error const why = guard([&]() -> error {
            auto const at = files_.find(path);
            if (at == files_.end()) { return missing(path); }
            view.bytes = *at->second;
            if (!view.bytes.empty()) { mapped_.emplace(view.bytes.data(), at->second); }
            return {};
        });
        if (why) { return why; }
        return view;
    }
    void unmap(file_mapping mapping) noexcept override {
        std::lock_guard const hold{mutex_};
        auto const at = mapped_.find(mapping.bytes.data());
        if (at != mapped_.end()) { mapped_.erase(at); }
    }

    [[nodiscard]] result<opened_file> lock(std::string_view path) noexcept override {
        std::lock_guard const hold{mutex_};
        if (!locks_.insert(std::string{path}).second) {
            return {errc::busy, "another recorder writes into this folder"};
        }
        std::int64_t const number = ++last_;
        lock_names_.emplace(number, std::string{path});
        return opened_file{number};
    }
    void unlock(opened_file held) noexcept override {
        std::lock_guard const hold{mutex_};
        auto const at = lock_names_.find(held.native);
        if (at == lock_names_.end()) { return; }
        locks_.erase(at->second);
        lock_names_.erase(at);
    }
    [[nodiscard]] result<bool> is_locked(std::string_view path) noexcept override {
        std::lock_guard const hold{mutex_};
        return locks_.contains(path);
    }

private:
    struct contents : std::vector<std::byte> {
        std::uint64_t identity = 0;
    };

    [[nodiscard]] static error missing(std::string_view path) noexcept {
        error why{errc::not_a_run, "there is no file "};
        why.what << path;
        return why;
    }
    template <class Call>
    [[nodiscard]] error guard(Call&& call) noexcept {
        std::lock_guard const hold{mutex_};
#if SPOTTER_EXCEPTIONS
        try {
            return call();
        } catch (...) { return {errc::out_of_memory, "no memory for one more byte of a file in memory"}; }
#else
        return call();
#endif
    }
    [[nodiscard]] result<opened_file> open(std::string_view path, bool fresh) noexcept {
        opened_file opened{};
        error const why = guard([&]() -> error {
            if (fresh && files_.contains(path)) { return {errc::exists, "there is a file of that name"}; }
            auto& bytes = files_[std::string{path}];
            opened.native = ++last_;
            if (bytes == nullptr) {
                bytes = std::make_shared<contents>();
                bytes->identity = static_cast<std::uint64_t>(last_);
            }
            open_[opened.native] = bytes;
            return {};
        });
        if (why) { return why; }
        return opened;
    }

    std::mutex mutex_{};
    std::map<std::string, std::shared_ptr<contents>, std::less<>> files_{};
    std::set<std::string, std::less<>> folders_{};
    std::map<std::int64_t, std::shared_ptr<contents>> open_{};
    std::multimap<std::byte const*, std::shared_ptr<contents>> mapped_{};
    std::set<std::string, std::less<>> locks_{};
    std::map<std::int64_t, std::string> lock_names_{};
    std::int64_t last_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
