// SPDX-License-Identifier: Apache-2.0
// A file system of which the n-th operation fails, and every one after it if asked; for fault tests.
#pragma once

#include <spotter/file/posix.hpp>

#include <atomic>
#include <cstdlib>
#include <string>

namespace spotter_test {

// Counts from 1 every call that can fail. A failing append writes half of its bytes first, as a full disk does.
class faulty_file_system final : public spotter::file_system {
public:
    explicit faulty_file_system(std::uint64_t fail_at, bool for_good = false,
                                spotter::errc how = spotter::errc::disk_full) noexcept
        : fail_at_{fail_at}, for_good_{for_good}, how_{how} {}

    spotter::result<spotter::file_handle> create(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return real_.create(path);
    }
    spotter::result<spotter::file_handle> open_append(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return real_.open_append(path);
    }
    spotter::error append(spotter::file_handle file, std::span<std::byte const> bytes) noexcept override {
        if (slow_microseconds > 0) { ::usleep(slow_microseconds); }
        if (fails()) {
            (void)real_.append(file, bytes.first(bytes.size() / 2));
            return why();
        }
        return real_.append(file, bytes);
    }
    spotter::error sync(spotter::file_handle file) noexcept override {
        ++syncs;
        return fails() ? why() : real_.sync(file);
    }
    void close(spotter::file_handle file) noexcept override { real_.close(file); }
    spotter::result<spotter::path_kind> kind_of(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return real_.kind_of(path);
    }
    spotter::result<std::uint64_t> size_of(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return real_.size_of(path);
    }
    spotter::error rename(std::string_view from, std::string_view to) noexcept override {
        return fails() ? why() : real_.rename(from, to);
    }
    spotter::error remove(std::string_view path) noexcept override { return fails() ? why() : real_.remove(path); }
    spotter::error make_folder(std::string_view path) noexcept override {
        return fails() ? why() : real_.make_folder(path);
    }
    spotter::error list(std::string_view path, spotter::name_taker take, void* context) noexcept override {
        return fails() ? why() : real_.list(path, take, context);
    }
    spotter::result<spotter::file_mapping> map(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return real_.map(path);
    }
    void unmap(spotter::file_mapping mapping) noexcept override { real_.unmap(mapping); }
    spotter::result<spotter::file_handle> lock(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return real_.lock(path);
    }
    void unlock(spotter::file_handle held) noexcept override { real_.unlock(held); }
    spotter::result<bool> is_locked(std::string_view path) noexcept override {
        if (fails()) { return why(); }
        return real_.is_locked(path);
    }

    std::uint64_t operations() const noexcept { return count_.load(); }
    std::atomic<unsigned> syncs{0};
    std::atomic<unsigned> slow_microseconds{0};  // each append takes that long

private:
    bool fails() noexcept {
        std::uint64_t const now = ++count_;
        return for_good_ ? now >= fail_at_ : now == fail_at_;
    }
    spotter::error why() const noexcept { return {how_, "the test let this operation fail"}; }

    spotter::posix_file_system real_;
    std::atomic<std::uint64_t> count_{0};
    std::uint64_t fail_at_;
    bool for_good_;
    spotter::errc how_;
};

// A new, empty folder below the working directory of the test.
class temporary_folder {
public:
    temporary_folder() noexcept {
        if (::mkdtemp(name_) == nullptr) { name_[0] = '\0'; }
    }
    ~temporary_folder() {
        (void)!std::system((std::string{"chmod -R u+w '"} + name_ + "'; rm -rf '" + name_ + "'").c_str());
    }
    std::string operator/(std::string_view name) const { return std::string{name_} + "/" + std::string{name}; }

private:
    char name_[32] = "spotter-XXXXXX";
};

}  // namespace spotter_test
