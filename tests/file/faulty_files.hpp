// SPDX-License-Identifier: Apache-2.0
// A file system whose n-th operation fails, and every later one on request; for fault tests.
#pragma once

#include <spotter/core/clock.hpp>
#include <spotter/file/system.hpp>

#include <atomic>

namespace spotter_test {

// Every call that can fail is counted from 1. A failing append writes the share `written` of its bytes, by default
// half, as a full disk does. With `looking_works` reading calls neither fail nor count: the disk is full, not gone.
// Uses the machine's files, or those of `below`.
class faulty_file_system : public spotter::file_system {
public:
    explicit faulty_file_system(std::uint64_t fail_at, bool for_good = false,
                                spotter::errc how = spotter::errc::disk_full) noexcept
        : faulty_file_system{spotter::system_files(), fail_at, for_good, how} {}
    faulty_file_system(spotter::file_system& below, std::uint64_t fail_at, bool for_good, spotter::errc how,
                       double written = 0.5) noexcept
        : below_{below}, fail_at_{fail_at}, for_good_{for_good}, how_{how}, written_{written} {}

    spotter::result<spotter::opened_file> create(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return below_.create(path);
    }
    spotter::result<spotter::opened_file> open_append(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return below_.open_append(path);
    }
    spotter::error append(spotter::opened_file file, std::span<std::byte const> bytes) noexcept override {
        if (slow_microseconds > 0) { spotter::detail::nap(slow_microseconds); }
        if (fails()) {
            auto const some = static_cast<std::size_t>(static_cast<double>(bytes.size()) * written_);
            (void)below_.append(file, bytes.first(some));
            return why();
        }
        return below_.append(file, bytes);
    }
    spotter::error sync(spotter::opened_file file) noexcept override {
        ++syncs;
        return fails() ? why() : below_.sync(file);
    }
    // The file is closed, though its bytes may be missing.
    spotter::error close(spotter::opened_file file) noexcept override {
        spotter::error const closed = below_.close(file);
        return fails() ? why() : closed;
    }
    spotter::error sync_folder(std::string_view path) noexcept override {
        ++folder_syncs;
        return fails() ? why() : below_.sync_folder(path);
    }
    spotter::result<bool> is_at(spotter::opened_file file, std::string_view path) noexcept override {
        if (fails_to_look()) { return why(); }
        return below_.is_at(file, path);
    }
    spotter::result<spotter::path_kind> kind_of(std::string_view path) noexcept override {
        if (fails_to_look()) { return why(); }
        return below_.kind_of(path);
    }
    spotter::result<std::uint64_t> size_of(std::string_view path) noexcept override {
        if (fails_to_look()) { return why(); }
        return below_.size_of(path);
    }
    spotter::result<spotter::file_facts> facts_of(std::string_view path) noexcept override {
        if (fails_to_look()) { return why(); }
        return below_.facts_of(path);
    }
    spotter::error rename(std::string_view from, std::string_view to) noexcept override {
        return fails() ? why() : below_.rename(from, to);
    }
    spotter::error remove(std::string_view path) noexcept override { return fails() ? why() : below_.remove(path); }
    spotter::error make_folder(std::string_view path) noexcept override {
        return fails() ? why() : below_.make_folder(path);
    }
    spotter::error list(std::string_view path, spotter::name_taker take, void* context) noexcept override {
        return fails_to_look() ? why() : below_.list(path, take, context);
    }
    spotter::result<std::size_t> read(std::string_view path, std::uint64_t from,
                                      std::span<std::byte> into) noexcept override {
        if (fails_to_look()) { return why(); }
        return below_.read(path, from, into);
    }
    spotter::result<spotter::file_mapping> map(std::string_view path) noexcept override {
        ++maps;
        if (fails_to_look()) { return why(); }
        return below_.map(path);
    }
    void unmap(spotter::file_mapping mapping) noexcept override { below_.unmap(mapping); }
    spotter::result<spotter::opened_file> lock(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return below_.lock(path);
    }
    void unlock(spotter::opened_file held) noexcept override { below_.unlock(held); }
    void leave_lock(spotter::opened_file held) noexcept override { below_.leave_lock(held); }
    spotter::result<bool> is_locked(std::string_view path) noexcept override {
        if (fails_to_look()) { return why(); }
        return below_.is_locked(path);
    }

    spotter::result<spotter::shared_memory> create_shared(std::string_view name,
                                                          std::uint64_t bytes) noexcept override {
        if (no_shared || fails()) { return why(); }
        return below_.create_shared(name, bytes);
    }
    spotter::result<spotter::shared_memory> open_shared(std::string_view name) noexcept override {
        if (fails()) { return why(); }
        return below_.open_shared(name);
    }
    void unmap_shared(spotter::shared_memory memory) noexcept override { below_.unmap_shared(memory); }
    spotter::error remove_shared(std::string_view name) noexcept override {
        return fails() ? why() : below_.remove_shared(name);
    }
    std::string_view shared_place() const noexcept override { return below_.shared_place(); }

    std::uint64_t operations() const noexcept { return count_.load(); }
    bool looking_works = false;
    bool no_shared = false;  // as without /dev/shm
    std::atomic<unsigned> syncs{0}, folder_syncs{0}, maps{0};
    std::atomic<unsigned> slow_microseconds{0};  // duration of each append
    void (*instead)() = nullptr;                 // called instead of failing, e.g. to end the process there

private:
    bool fails() noexcept {
        std::uint64_t const now = ++count_;
        return for_good_ ? now >= fail_at_ : now == fail_at_;
    }
    bool fails_to_look() noexcept { return !looking_works && fails(); }
    spotter::error why() const noexcept {
        if (instead != nullptr) { instead(); }
        return {how_, "the test let this operation fail"};
    }

    spotter::file_system& below_;
    std::atomic<std::uint64_t> count_{0};
    std::uint64_t fail_at_;
    bool for_good_;
    spotter::errc how_;
    double written_;
};

}  // namespace spotter_test
