// SPDX-License-Identifier: Apache-2.0
// The bodies of posix.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/clock.hpp>
#include <spotter/file/posix.hpp>
#include <spotter/file/size_limit.hpp>

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace spotter::inline SPOTTER_ABI {

static_assert(
    sizeof(off_t) == 8,
    "spotter: segments may be larger than 2 GiB: compile all files of a 32-bit program with -D_FILE_OFFSET_BITS=64");

SPOTTER_COLD_BODY result<opened_file> posix_file_system::create(std::string_view path) noexcept {
    return open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, "create");
}

SPOTTER_COLD_BODY result<opened_file> posix_file_system::open_append(std::string_view path) noexcept {
    return open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, "open");
}

SPOTTER_COLD_BODY error posix_file_system::append(opened_file file, std::span<std::byte const> bytes) noexcept {
    size_limit_as_error const limit;
    while (!bytes.empty()) {
        ssize_t const done = ::write(number_of(file), bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) { continue; }
        if (done <= 0) { return detail::system_error(done < 0 ? errno : ENOSPC, "write to", "a segment"); }
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return {};
}

SPOTTER_COLD_BODY error posix_file_system::sync(opened_file file) noexcept {
    return ::fsync(number_of(file)) == 0 ? error{} : detail::system_error(errno, "sync", "a segment");
}

SPOTTER_COLD_BODY error posix_file_system::close(opened_file file) noexcept {
    if (!file.open() || ::close(number_of(file)) == 0 || errno == EINTR) { return {}; }
    return detail::system_error(errno, "close", "a segment");
}

SPOTTER_COLD_BODY error posix_file_system::sync_folder(std::string_view path) noexcept {
    auto const folder = open_file(path, O_RDONLY | O_DIRECTORY, "sync the folder");
    if (!folder) { return folder.error(); }
    // A file system without folder sync needs none.
    int const failed = ::fsync(number_of(*folder)) == 0 || errno == EINVAL ? 0 : errno;
    drop(*folder);
    return failed == 0 ? error{} : detail::system_error(failed, "sync the folder", path);
}

SPOTTER_COLD_BODY result<bool> posix_file_system::is_at(opened_file file, std::string_view path) noexcept {
    detail::zero_terminated name{path};
    struct stat open{}, named{};
    if (!name.good()) { return detail::system_error(ENAMETOOLONG, "look at", path); }
    if (::fstat(number_of(file), &open) != 0) { return detail::system_error(errno, "look at", path); }
    if (::stat(name.get(), &named) != 0) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) { return false; }
        return detail::system_error(errno, "look at", path);
    }
    return open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

SPOTTER_COLD_BODY path_text posix_file_system::absolute(std::string_view path) noexcept {
    path_text const as_given{"", path};
    if (path.empty() || path.front() == '/') { return as_given; }
    char folder[longest_path];
    if (::getcwd(folder, sizeof folder) == nullptr) { return as_given; }
    path_text const whole{folder, path};
    struct stat here{}, there{};
    bool const same = folder[0] == '/' && ::stat(".", &here) == 0 && ::stat(folder, &there) == 0 &&
                      here.st_dev == there.st_dev && here.st_ino == there.st_ino;
    return same && whole.good() ? whole : as_given;
}

SPOTTER_COLD_BODY result<path_kind> posix_file_system::kind_of(std::string_view path) noexcept {
    detail::zero_terminated name{path};
    struct stat facts{};
    if (!name.good()) { return detail::system_error(ENAMETOOLONG, "look at", path); }
    if (::stat(name.get(), &facts) != 0) {
        int const failed = errno;
        bool const there = (failed == ENOENT || failed == ELOOP) && ::lstat(name.get(), &facts) == 0;
        if (!there && (failed == ENOENT || failed == ENOTDIR)) { return path_kind::missing; }
        if (!there) { return detail::system_error(failed, "look at", path); }
        // A dangling link; otherwise it was created just now.
        if (S_ISLNK(facts.st_mode)) { return path_kind::other; }
    }
    if (S_ISDIR(facts.st_mode)) { return path_kind::folder; }
    return S_ISREG(facts.st_mode) ? path_kind::file : path_kind::other;
}

SPOTTER_COLD_BODY result<std::uint64_t> posix_file_system::size_of(std::string_view path) noexcept {
    auto const facts = facts_of(path);
    return facts ? result<std::uint64_t>{facts->bytes} : facts.error();
}

SPOTTER_COLD_BODY result<file_facts> posix_file_system::facts_of(std::string_view path) noexcept {
    detail::zero_terminated name{path};
    struct stat facts{};
    if (!name.good() || ::stat(name.get(), &facts) != 0) {
        return detail::system_error(name.good() ? errno : ENAMETOOLONG, "look at", path);
    }
    if (!S_ISREG(facts.st_mode)) { return no_file(facts.st_mode, "look at", path); }
    // Combines device and inode in one number, which is never 0.
    std::uint64_t const device = cast_to<std::uint64_t>(facts.st_dev) * 0x9E3779B97F4A7C15ULL;
    std::uint64_t const identity = cast_to<std::uint64_t>(facts.st_ino) ^ device;
    return file_facts{static_cast<std::uint64_t>(facts.st_size), identity == 0 ? 1 : identity};
}

SPOTTER_COLD_BODY error posix_file_system::rename(std::string_view from, std::string_view to) noexcept {
    detail::zero_terminated old_name{from};
    detail::zero_terminated new_name{to};
    bool const good = old_name.good() && new_name.good();
    if (!good || ::rename(old_name.get(), new_name.get()) != 0) {
        return detail::system_error(good ? errno : ENAMETOOLONG, "rename", from);
    }
    return {};
}

SPOTTER_COLD_BODY error posix_file_system::remove(std::string_view path) noexcept {
    detail::zero_terminated name{path};
    if (!name.good() || ::unlink(name.get()) != 0) {
        return detail::system_error(name.good() ? errno : ENAMETOOLONG, "remove", path);
    }
    return {};
}

SPOTTER_COLD_BODY error posix_file_system::make_folder(std::string_view path) noexcept {
    detail::zero_terminated name{path};
    if (!name.good()) { return detail::system_error(ENAMETOOLONG, "make the folder", path); }
    char* const letters = name.get();
    for (std::size_t at = 1; at <= path.size(); ++at) {
        if (at < path.size() && letters[at] != '/') { continue; }
        letters[at] = '\0';
        int const failed = ::mkdir(letters, 0777) == 0 ? 0 : errno;
        // An existing parent may refuse mkdir for its own reasons (read-only, automounted); only the last folder
        // decides.
        bool const last = at == path.size();
        if (last && failed != 0) {
            struct stat facts{};
            bool const there = ::stat(letters, &facts) == 0;
            bool const nowhere = failed == ENOENT && path.front() != '/';
            std::string_view const known = nowhere ? "the working directory was removed" : "";
            if (!there) { return detail::system_error(failed, "make the folder", path, known); }
            if (!S_ISDIR(facts.st_mode)) { return detail::system_error(ENOTDIR, "make the folder", path); }
        }
        if (!last) { letters[at] = '/'; }
    }
    return {};
}

SPOTTER_COLD_BODY error posix_file_system::list(std::string_view path, name_taker take, void* context) noexcept {
    detail::zero_terminated name{path};
    DIR* const folder = name.good() ? detail::open_folder_above_streams(name.get()) : nullptr;
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

SPOTTER_COLD_BODY result<std::size_t> posix_file_system::read(std::string_view path, std::uint64_t from,
                                                              std::span<std::byte> into) noexcept {
    auto const file = open_regular(path, O_RDONLY, "read");
    if (!file) { return file.error(); }
    std::size_t done = 0;
    int failed = 0;
    while (done < into.size() && failed == 0) {
        auto const at = static_cast<off_t>(from + done);
        ssize_t const some = ::pread(number_of(*file), into.data() + done, into.size() - done, at);
        if (some == 0) { break; }
        if (some > 0) { done += static_cast<std::size_t>(some); }
        if (some < 0 && errno != EINTR) { failed = errno; }
    }
    drop(*file);
    if (failed != 0) { return detail::system_error(failed, "read", path); }
    return done;
}

SPOTTER_COLD_BODY result<file_mapping> posix_file_system::map(std::string_view path) noexcept {
    auto const file = open_regular(path, O_RDONLY, "open");
    if (!file) { return file.error(); }
    struct stat facts{};
    result<file_mapping> mapping{file_mapping{}};
    if (::fstat(number_of(*file), &facts) != 0) {
        mapping = detail::system_error(errno, "look at", path);
    } else if (static_cast<std::uint64_t>(facts.st_size) > SIZE_MAX / 2) {
        mapping = detail::system_error(EOVERFLOW, "map", path);
    } else if (facts.st_size > 0) {
        auto const size = static_cast<std::size_t>(facts.st_size);
        void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, number_of(*file), 0);
        if (at == MAP_FAILED) {
            mapping = detail::system_error(errno, "map", path);
        } else {
            mapping = file_mapping{{static_cast<std::byte const*>(at), size}};
        }
    }
    drop(*file);
    return mapping;
}

SPOTTER_COLD_BODY void posix_file_system::unmap(file_mapping mapping) noexcept {
    if (!mapping.bytes.empty()) { ::munmap(const_cast<std::byte*>(mapping.bytes.data()), mapping.bytes.size()); }
}

SPOTTER_COLD_BODY result<opened_file> posix_file_system::lock(std::string_view path) noexcept {
    auto file = open_regular(path, O_RDWR, "open");
    if (!file && file.error().code == errc::not_a_run) {
        file = open_regular(path, O_RDWR | O_CREAT | O_NOFOLLOW, "open");
    }
    if (!file) { return file.error(); }
    if (int const failed = take_lock(*file); failed != 0) {
        text<64> holder{};
        if (failed == EWOULDBLOCK) { detail::name_holder(number_of(*file), holder); }
        drop(*file);
        return detail::system_error(failed, "lock", path, holder);
    }
    return opened_file{*file};
}

SPOTTER_COLD_BODY void posix_file_system::unlock(opened_file held) noexcept {
    if (held.open()) {
        ::flock(number_of(held), LOCK_UN);
        drop(held);
    }
}

SPOTTER_COLD_BODY result<bool> posix_file_system::is_locked(std::string_view path) noexcept {
    auto const file = open_regular(path, O_RDONLY, "open");
    if (!file) {
        if (file.error().code == errc::not_a_run) { return false; }
        return file.error();
    }
    bool const free = ::flock(number_of(*file), LOCK_SH | LOCK_NB) == 0;
    int const number = free ? 0 : errno;
    drop(*file);
    if (!free && number != EWOULDBLOCK) { return detail::system_error(number, "ask for the lock", path); }
    return !free;
}

SPOTTER_COLD_BODY result<shared_memory> posix_file_system::create_shared(std::string_view name,
                                                                         std::uint64_t bytes) noexcept {
    auto memory = make_shared(name, bytes, false);
    errc const code = memory.error().code;
    bool const for_good = code == errc::exists || code == errc::disk_full || code == errc::out_of_memory;
    return memory || for_good ? std::move(memory) : make_shared(name, bytes, true);
}

SPOTTER_COLD_BODY result<shared_memory> posix_file_system::open_shared(std::string_view name) noexcept {
    path_text const path{shared_folder, name};
    auto const file = open_regular(path, O_RDWR | O_NOFOLLOW, "open");
    if (!file) { return file.error(); }
    struct stat facts{};
    if (::fstat(number_of(*file), &facts) == 0) {
        return map_shared(*file, static_cast<std::uint64_t>(facts.st_size), path);
    }
    int const failed = errno;
    drop(*file);
    return detail::system_error(failed, "look at", path);
}

SPOTTER_COLD_BODY void posix_file_system::unmap_shared(shared_memory memory) noexcept {
    if (!memory.bytes.empty()) { ::munmap(memory.bytes.data(), memory.bytes.size()); }
    drop(memory.lock);
}

SPOTTER_COLD_BODY error posix_file_system::remove_shared(std::string_view name) noexcept {
    text<longest_path> part{path_text{shared_folder, name}.view()};
    part << part_suffix;
    (void)remove(part);
    return remove(path_text{shared_folder, name});
}

SPOTTER_COLD_BODY result<shared_memory> posix_file_system::make_shared(std::string_view name, std::uint64_t bytes,
                                                                       bool named) noexcept {
    path_text const path{shared_folder, name};
    text<longest_path> part{path.view()};
    part << part_suffix;
    result<opened_file> file{errc::unwritable, "there are no files without a name here"};
    if (named) {
        (void)remove(part);
        file = open_file(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, "create", 0600);
    }
#if defined(O_TMPFILE)
    if (!named) { file = open_file(shared_folder, O_RDWR | O_TMPFILE, "create", 0600); }
#endif
    if (!file) { return file.error(); }
    text<64> link{"/proc/self/fd/"};
    link << file->native;
    size_limit_as_error const limit;
    // Allocated now: a page that is not available on access ends the process.
#if defined(__APPLE__)
    int const failed = ENOTSUP;
#else
    int failed = EINTR;
    while (failed == EINTR) { failed = ::posix_fallocate(number_of(*file), 0, static_cast<off_t>(bytes)); }
#endif
    error why = failed == 0 ? error{} : detail::system_error(failed, "take the memory of", path);
    result<shared_memory> memory{shared_memory{{}, *file}};
    if (!why) { memory = map_shared(*file, bytes, path); }
    if (memory && !why) {
        detail::zero_terminated from{named ? part.view() : link.view()}, to{path};
        int const how = named ? 0 : AT_SYMLINK_FOLLOW;
        if (::linkat(AT_FDCWD, from.get(), AT_FDCWD, to.get(), how) != 0) {
            why = detail::system_error(errno, "create", path);
        }
    }
    if (memory && why) {
        unmap_shared(*memory);
        memory = why;
    }
    if (named) { (void)remove(part); }
    return memory;
}

SPOTTER_COLD_BODY int posix_file_system::take_lock(opened_file file) noexcept {
    for (int attempt = 0; ::flock(number_of(file), LOCK_EX | LOCK_NB) != 0; ++attempt) {
        int const number = errno;
        if (number == EINTR) { continue; }
        if (number != EWOULDBLOCK || attempt == 10) { return number; }
        detail::nap(1000);
    }
    return 0;
}

SPOTTER_COLD_BODY result<shared_memory> posix_file_system::map_shared(opened_file file, std::uint64_t bytes,
                                                                      std::string_view path) noexcept {
    shared_memory memory{{}, file};
    int failed = take_lock(file);
    if (failed == 0 && bytes > SIZE_MAX / 2) { failed = EOVERFLOW; }
    if (failed == 0 && bytes > 0) {
        auto const size = as_size(bytes);
        void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, number_of(file), 0);
        if (at == MAP_FAILED) { failed = errno; }
        if (failed == 0) { memory.bytes = {static_cast<std::byte*>(at), size}; }
    }
    if (failed == 0) { return memory; }
    drop(file);
    return detail::system_error(failed, "map", path);
}

SPOTTER_COLD_BODY void posix_file_system::drop(opened_file file) noexcept {
    if (file.open()) { ::close(number_of(file)); }
}

SPOTTER_COLD_BODY error posix_file_system::no_file(mode_t mode, std::string_view doing,
                                                   std::string_view path) noexcept {
    bool const folder = S_ISDIR(mode);
    std::string_view const what = folder           ? "it is a folder"
                                  : S_ISFIFO(mode) ? "it is a pipe, no file"
                                  : S_ISSOCK(mode) ? "it is a socket, no file"
                                                   : "it is a device, no file";
    return detail::system_error(folder ? EISDIR : ENODEV, doing, path, what);
}

SPOTTER_COLD_BODY result<opened_file> posix_file_system::open_regular(std::string_view path, int flags,
                                                                      std::string_view doing) noexcept {
    auto const file = open_file(path, flags | O_NONBLOCK, doing);
    if (!file) { return file.error(); }
    struct stat facts{};
    int const failed = ::fstat(number_of(*file), &facts) == 0 ? 0 : errno;
    if (failed == 0 && S_ISREG(facts.st_mode)) { return opened_file{*file}; }
    drop(*file);
    return failed != 0 ? detail::system_error(failed, doing, path) : no_file(facts.st_mode, doing, path);
}

SPOTTER_COLD_BODY result<opened_file> posix_file_system::open_file(std::string_view path, int flags,
                                                                   std::string_view doing, mode_t rights) noexcept {
    detail::zero_terminated name{path};
    if (!name.good()) { return detail::system_error(ENAMETOOLONG, doing, path); }
    int const number = detail::open_above_streams(name.get(), flags, rights);
    if (number < 0) { return detail::system_error(errno, doing, path); }
    return opened_file{number};
}

SPOTTER_COLD_BODY fork_guard::fork_guard() noexcept : made_in_{::getpid()} {
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

SPOTTER_COLD_BODY fork_guard::~fork_guard() {
    if (mark_ != nullptr) { ::munmap(const_cast<unsigned char*>(mark_), page_bytes); }
}

SPOTTER_COLD_BODY bool make_ready([[maybe_unused]] std::span<std::byte> memory) noexcept {
#if defined(__linux__)
    constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, which older headers lack
    auto const page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    std::size_t const before = reinterpret_cast<std::uintptr_t>(memory.data()) % page;
    return ::madvise(memory.data() - before, memory.size() + before, populate_write) == 0;
#else
    return false;
#endif
}

}  // namespace spotter::inline SPOTTER_ABI
