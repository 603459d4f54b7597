// SPDX-License-Identifier: Apache-2.0
// File (L1): the file system of POSIX by its raw calls. All that the project knows of POSIX is in this file.
#pragma once

#include <spotter/file/file_system.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A path with its final zero.
class zero_terminated {
public:
    explicit zero_terminated(std::string_view path) noexcept {
        good_ = path.size() < sizeof letters_ && path.find('\0') == path.npos;
        if (good_ && !path.empty()) { std::memcpy(letters_, path.data(), path.size()); }
        letters_[good_ ? path.size() : 0] = '\0';
    }
    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] char* get() noexcept { return letters_; }

private:
    char letters_[longest_path + 1];
    bool good_;
};

// What the system's error number means to a user, and what to do about it.
[[nodiscard]] inline error system_error(int number, std::string_view doing, std::string_view path) noexcept {
    error why{errc::io_error, {}};
    std::string_view cause = "the system refused";
    std::string_view advice = "check the disk";
    switch (number) {
        case ENOSPC:
        case EDQUOT:
            why.code = errc::disk_full;
            cause = "the disk is full";
            advice = "free some space";
            break;
        case EACCES:
        case EPERM:
            why.code = errc::unwritable;
            cause = "no permission";
            advice = "choose another folder";
            break;
        case EROFS:
            why.code = errc::unwritable;
            cause = "the file system is read-only";
            advice = "choose another folder";
            break;
        case ENOTDIR:
            why.code = errc::unwritable;
            cause = "a part of the path is a file";
            advice = "choose another folder";
            break;
        case EISDIR:
            why.code = errc::unwritable;
            cause = "it is a folder";
            advice = "choose another name";
            break;
        case ENAMETOOLONG:
            why.code = errc::unwritable;
            cause = "the path is too long";
            advice = "choose a shorter one";
            break;
        case ENOENT:
            why.code = errc::not_a_run;
            cause = "there is no such file";
            advice = "check the path";
            break;
        case EEXIST:
            why.code = errc::exists;
            cause = "it is there already";
            advice = "choose another name";
            break;
        case EWOULDBLOCK:
            why.code = errc::busy;
            cause = "another process has it locked";
            advice = "wait for it or choose another folder";
            break;
        case EMFILE:
        case ENFILE:
            cause = "too many files are open";
            advice = "close some or raise the limit";
            break;
        case ENOMEM:
            why.code = errc::out_of_memory;
            cause = "no memory";
            advice = "close something";
            break;
        default:
            break;
    }
    // The path's end says most; a sentence has room for about 120 letters of it.
    bool const cut = path.size() > 120;
    why.what << "could not " << doing << ' ' << (cut ? "..." : "") << (cut ? path.substr(path.size() - 120) : path)
             << ": " << cause << " (errno " << number << "); " << advice;
    return why;
}

}  // namespace detail

class posix_file_system final : public file_system {
public:
    [[nodiscard]] result<file_handle> create(std::string_view path) noexcept override {
        return open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, "create");
    }
    [[nodiscard]] result<file_handle> open_append(std::string_view path) noexcept override {
        return open_file(path, O_WRONLY | O_CREAT | O_APPEND, "open");
    }
    [[nodiscard]] error append(file_handle file, std::span<std::byte const> bytes) noexcept override {
        while (!bytes.empty()) {
            ssize_t const done = ::write(number_of(file), bytes.data(), bytes.size());
            if (done < 0 && errno == EINTR) { continue; }
            if (done <= 0) { return detail::system_error(done < 0 ? errno : ENOSPC, "write to", "a segment"); }
            bytes = bytes.subspan(static_cast<std::size_t>(done));
        }
        return {};
    }
    [[nodiscard]] error sync(file_handle file) noexcept override {
        return ::fsync(number_of(file)) == 0 ? error{} : detail::system_error(errno, "sync", "a segment");
    }
    void close(file_handle file) noexcept override {
        if (file.open()) { ::close(number_of(file)); }
    }

    [[nodiscard]] result<path_kind> kind_of(std::string_view path) noexcept override {
        detail::zero_terminated name{path};
        struct stat facts {};
        if (!name.good()) { return detail::system_error(ENAMETOOLONG, "look at", path); }
        if (::stat(name.get(), &facts) != 0) {
            if (errno == ENOENT || errno == ENOTDIR) { return path_kind::missing; }
            return detail::system_error(errno, "look at", path);
        }
        if (S_ISDIR(facts.st_mode)) { return path_kind::folder; }
        return S_ISREG(facts.st_mode) ? path_kind::file : path_kind::other;
    }
    [[nodiscard]] result<std::uint64_t> size_of(std::string_view path) noexcept override {
        detail::zero_terminated name{path};
        struct stat facts {};
        if (!name.good() || ::stat(name.get(), &facts) != 0) {
            return detail::system_error(name.good() ? errno : ENAMETOOLONG, "look at", path);
        }
        return static_cast<std::uint64_t>(facts.st_size);
    }
    [[nodiscard]] result<file_facts> facts_of(std::string_view path) noexcept override {
        detail::zero_terminated name{path};
        struct stat facts {};
        if (!name.good() || ::stat(name.get(), &facts) != 0) {
            return detail::system_error(name.good() ? errno : ENAMETOOLONG, "look at", path);
        }
        // Devices are few and inodes many: the two in one number, which is never 0.
        std::uint64_t const device = static_cast<std::uint64_t>(facts.st_dev) * 0x9E3779B97F4A7C15ULL;
        std::uint64_t const identity = static_cast<std::uint64_t>(facts.st_ino) ^ device;
        return file_facts{static_cast<std::uint64_t>(facts.st_size), identity == 0 ? 1 : identity};
    }
    [[nodiscard]] error rename(std::string_view from, std::string_view to) noexcept override {
        detail::zero_terminated old_name{from};
        detail::zero_terminated new_name{to};
        bool const good = old_name.good() && new_name.good();
        if (!good || ::rename(old_name.get(), new_name.get()) != 0) {
            return detail::system_error(good ? errno : ENAMETOOLONG, "rename", from);
        }
        return {};
    }
    [[nodiscard]] error remove(std::string_view path) noexcept override {
        detail::zero_terminated name{path};
        if (!name.good() || ::unlink(name.get()) != 0) {
            return detail::system_error(name.good() ? errno : ENAMETOOLONG, "remove", path);
        }
        return {};
    }
    [[nodiscard]] error make_folder(std::string_view path) noexcept override {
        detail::zero_terminated name{path};
        if (!name.good()) { return detail::system_error(ENAMETOOLONG, "make the folder", path); }
        char* const letters = name.get();
        for (std::size_t at = 1; at <= path.size(); ++at) {
            if (at < path.size() && letters[at] != '/') { continue; }
            letters[at] = '\0';
            int const failed = ::mkdir(letters, 0777) == 0 ? 0 : errno;
            // A parent may be there and refuse mkdir for a reason of its own (read-only, automounted); the last one decides.
            bool const last = at == path.size();
            if (last && failed != 0) {
                struct stat facts {};
                bool const there = ::stat(letters, &facts) == 0;
                if (!there) { return detail::system_error(failed, "make the folder", path); }
                if (!S_ISDIR(facts.st_mode)) { return detail::system_error(ENOTDIR, "make the folder", path); }
            }
            if (!last) { letters[at] = '/'; }
        }
        return {};
    }
    [[nodiscard]] error list(std::string_view path, name_taker take, void* context) noexcept override {
        detail::zero_terminated name{path};
        DIR* const folder = name.good() ? ::opendir(name.get()) : nullptr;
        if (folder == nullptr) { return detail::system_error(name.good() ? errno : ENAMETOOLONG, "list", path); }
        for (;;) {
            errno = 0;
            dirent const* const each = ::readdir(folder);
            if (each == nullptr) { break; }
            std::string_view const found{each->d_name};
            if (found != "." && found != ".." && !take(context, found)) { break; }
        }
        int const failed = errno;
        ::closedir(folder);
        return failed == 0 ? error{} : detail::system_error(failed, "list", path);
    }

    [[nodiscard]] result<file_mapping> map(std::string_view path) noexcept override {
        auto const file = open_file(path, O_RDONLY, "open");
        if (!file) { return file.error(); }
        struct stat facts {};
        result<file_mapping> mapping{file_mapping{}};
        if (::fstat(number_of(*file), &facts) != 0) {
            mapping = detail::system_error(errno, "look at", path);
        } else if (!S_ISREG(facts.st_mode)) {
            mapping = detail::system_error(EISDIR, "read", path);
        } else if (facts.st_size > 0) {
            auto const size = static_cast<std::size_t>(facts.st_size);
            void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, number_of(*file), 0);
            if (at == MAP_FAILED) {
                mapping = detail::system_error(errno, "map", path);
            } else {
                mapping = file_mapping{{static_cast<std::byte const*>(at), size}};
            }
        }
        close(*file);
        return mapping;
    }
    void unmap(file_mapping mapping) noexcept override {
        if (!mapping.bytes.empty()) { ::munmap(const_cast<std::byte*>(mapping.bytes.data()), mapping.bytes.size()); }
    }

    // flock, not fcntl: it also excludes another recorder of the same process. A child that is forked off shares it, so the
    // file stays locked until the child ends too.
    [[nodiscard]] result<file_handle> lock(std::string_view path) noexcept override {
        auto file = open_file(path, O_RDWR | O_CREAT, "open");
        if (!file) { return file.error(); }
        if (int const failed = take_lock(*file); failed != 0) {
            close(*file);
            return detail::system_error(failed, "lock", path);
        }
        return file_handle{*file};
    }
    void unlock(file_handle held) noexcept override {
        if (held.open()) {
            ::flock(number_of(held), LOCK_UN);
            close(held);
        }
    }
    [[nodiscard]] result<bool> is_locked(std::string_view path) noexcept override {
        auto const file = open_file(path, O_RDONLY, "open");
        if (!file) {
            if (file.error().code == errc::not_a_run) { return false; }
            return file.error();
        }
        bool const free = ::flock(number_of(*file), LOCK_SH | LOCK_NB) == 0;
        int const number = free ? 0 : errno;
        close(*file);
        if (!free && number != EWOULDBLOCK) { return detail::system_error(number, "ask for the lock", path); }
        return !free;
    }

    // Files in /dev/shm, which everyone on the machine may list: so nobody else may read them, and no link is followed there.
    [[nodiscard]] result<shared_memory> create_shared(std::string_view name, std::uint64_t bytes) noexcept override {
        path_text const path{shared_folder, name};
        auto const file = open_file(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, "create", 0600);
        if (!file) { return file.error(); }
        // Allocated now: a page that cannot be had when it is touched ends the process.
        int failed = EINTR;
        while (failed == EINTR) { failed = ::posix_fallocate(number_of(*file), 0, static_cast<off_t>(bytes)); }
        if (failed == 0) {
            auto memory = map_shared(*file, bytes, path);
            if (!memory) { (void)remove(path); }
            return memory;
        }
        close(*file);
        (void)remove(path);
        return detail::system_error(failed, "take the memory of", path);
    }
    [[nodiscard]] result<shared_memory> open_shared(std::string_view name) noexcept override {
        path_text const path{shared_folder, name};
        auto const file = open_file(path, O_RDWR | O_NOFOLLOW, "open");
        if (!file) { return file.error(); }
        struct stat facts {};
        if (::fstat(number_of(*file), &facts) == 0 && S_ISREG(facts.st_mode)) {
            return map_shared(*file, static_cast<std::uint64_t>(facts.st_size), path);
        }
        close(*file);
        return detail::system_error(EISDIR, "read", path);
    }
    void unmap_shared(shared_memory memory) noexcept override {
        if (!memory.bytes.empty()) { ::munmap(memory.bytes.data(), memory.bytes.size()); }
        close(memory.lock);
    }
    [[nodiscard]] error remove_shared(std::string_view name) noexcept override {
        return remove(path_text{shared_folder, name});
    }

private:
    static constexpr std::string_view shared_folder = "/dev/shm";

    // A reader that is just asking holds it for microseconds; whoever writes holds it for good. The error's number, or 0.
    [[nodiscard]] static int take_lock(file_handle file) noexcept {
        for (int attempt = 0; ::flock(number_of(file), LOCK_EX | LOCK_NB) != 0; ++attempt) {
            int const number = errno;
            if (number == EINTR) { continue; }
            if (number != EWOULDBLOCK || attempt == 10) { return number; }
            timespec const nap{0, 1'000'000};
            ::nanosleep(&nap, nullptr);
        }
        return 0;
    }

    // Takes the file, or closes it.
    [[nodiscard]] result<shared_memory> map_shared(file_handle file, std::uint64_t bytes,
                                                   std::string_view path) noexcept {
        shared_memory memory{{}, file};
        int failed = take_lock(file);
        if (failed == 0 && bytes > 0) {
            auto const size = static_cast<std::size_t>(bytes);
            void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, number_of(file), 0);
            if (at == MAP_FAILED) { failed = errno; }
            if (failed == 0) { memory.bytes = {static_cast<std::byte*>(at), size}; }
        }
        if (failed == 0) { return memory; }
        close(file);
        return detail::system_error(failed, "map", path);
    }

    [[nodiscard]] static int number_of(file_handle file) noexcept { return static_cast<int>(file.native); }

    [[nodiscard]] static result<file_handle> open_file(std::string_view path, int flags, std::string_view doing,
                                                       mode_t rights = 0666) noexcept {
        detail::zero_terminated name{path};
        if (!name.good()) { return detail::system_error(ENAMETOOLONG, doing, path); }
        for (;;) {
            int const number = ::open(name.get(), flags | O_CLOEXEC, rights);
            if (number >= 0) { return file_handle{number}; }
            if (errno != EINTR) { return detail::system_error(errno, doing, path); }
        }
    }
};

// Knows whether this process is a fork of the one it was made in, without a system call: a page that the kernel empties in
// a child (Linux 4.14; elsewhere the process id is compared).
class fork_guard {
public:
    fork_guard() noexcept : made_in_{::getpid()} {
#if defined(MADV_WIPEONFORK)
        void* const page = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) { return; }
        if (::madvise(page, page_bytes, MADV_WIPEONFORK) == 0) {
            mark_ = static_cast<unsigned char volatile*>(page);
            *mark_ = 1;
        } else {
            ::munmap(page, page_bytes);
        }
#endif
    }
    fork_guard(fork_guard const&) = delete;
    fork_guard& operator=(fork_guard const&) = delete;
    ~fork_guard() {
        if (mark_ != nullptr) { ::munmap(const_cast<unsigned char*>(mark_), page_bytes); }
    }
    [[nodiscard]] bool in_child() const noexcept { return mark_ != nullptr ? *mark_ == 0 : ::getpid() != made_in_; }

private:
    static constexpr std::size_t page_bytes = 4096;

    pid_t made_in_;
    unsigned char volatile* mark_ = nullptr;
};

// The machine's files. Without state, so it is shared and may be used at any time.
[[nodiscard]] inline file_system& system_files() noexcept {
    static posix_file_system files;
    return files;
}

}  // namespace spotter::inline SPOTTER_ABI
