// SPDX-License-Identifier: Apache-2.0
// File (L1): the file system of POSIX, by its system calls. Only this file uses POSIX's file calls.
// Include system.hpp instead.
#pragma once

#include <spotter/file/descriptor.hpp>
#include <spotter/file/file_system.hpp>

#include <sys/types.h>

#include <cstring>
#include <unistd.h>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A zero-terminated path.
class zero_terminated {
public:
    explicit zero_terminated(std::string_view path) noexcept;
    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] char* get() noexcept { return letters_; }

private:
    char letters_[longest_path + 1];
    bool good_;
};

// The error for a system error number, with advice for the user.
[[nodiscard]] error system_error(int number, std::string_view doing, std::string_view path,
                                 std::string_view known = {}) noexcept;

// Finds another process that has the file open: "process 12 has it locked". Stays empty if none is visible (another
// user's, another machine's). Uses the names of open files in /proc, which needs no disk access that might hang.
void name_holder(int own, text<64>& into) noexcept;

}  // namespace detail

// Files by POSIX calls; errors contain the system's error text. Has no state.
class posix_file_system final : public file_system {
public:
    [[nodiscard]] result<opened_file> create(std::string_view path) noexcept override;
    [[nodiscard]] result<opened_file> open_append(std::string_view path) noexcept override;
    [[nodiscard]] error append(opened_file file, std::span<std::byte const> bytes) noexcept override;
    [[nodiscard]] error sync(opened_file file) noexcept override;
    [[nodiscard]] error close(opened_file file) noexcept override;
    [[nodiscard]] error sync_folder(std::string_view path) noexcept override;
    [[nodiscard]] result<bool> is_at(opened_file file, std::string_view path) noexcept override;

    // Returns the path unchanged if the working directory was removed, or its name leads elsewhere.
    [[nodiscard]] path_text absolute(std::string_view path) noexcept override;
    [[nodiscard]] result<path_kind> kind_of(std::string_view path) noexcept override;
    [[nodiscard]] result<std::uint64_t> size_of(std::string_view path) noexcept override;
    [[nodiscard]] result<file_facts> facts_of(std::string_view path) noexcept override;
    [[nodiscard]] error rename(std::string_view from, std::string_view to) noexcept override;
    [[nodiscard]] error remove(std::string_view path) noexcept override;
    [[nodiscard]] error make_folder(std::string_view path) noexcept override;
    [[nodiscard]] error list(std::string_view path, name_taker take, void* context) noexcept override;

    [[nodiscard]] result<std::size_t> read(std::string_view path, std::uint64_t from,
                                           std::span<std::byte> into) noexcept override;
    [[nodiscard]] result<file_mapping> map(std::string_view path) noexcept override;
    void unmap(file_mapping mapping) noexcept override;

    // flock, not fcntl: it also excludes another recorder of the same process. A forked child shares the lock, so the
    // file stays locked until the child leaves it or ends, too. Created only if nothing is there, so that a dangling
    // link is not followed.
    [[nodiscard]] result<opened_file> lock(std::string_view path) noexcept override;
    void unlock(opened_file held) noexcept override;
    void leave_lock(opened_file held) noexcept override { drop(held); }
    [[nodiscard]] result<bool> is_locked(std::string_view path) noexcept override;

    // Files in /dev/shm, which every user can list: they are private, and links are not followed. A file gets its name
    // when it has its memory and its lock; if the system has no nameless files there, it has a temporary name until
    // then.
    [[nodiscard]] result<shared_memory> create_shared(std::string_view name, std::uint64_t bytes) noexcept override;
    [[nodiscard]] result<shared_memory> open_shared(std::string_view name) noexcept override;
    void unmap_shared(shared_memory memory) noexcept override;
    [[nodiscard]] error remove_shared(std::string_view name) noexcept override;
    [[nodiscard]] std::string_view shared_place() const noexcept override { return shared_folder; }

private:
    static constexpr std::string_view shared_folder = "/dev/shm";
    static constexpr std::string_view part_suffix = "-part";  // the temporary name of an incomplete file

    [[nodiscard]] result<shared_memory> make_shared(std::string_view name, std::uint64_t bytes, bool named) noexcept;

    // A reader that only checks holds the lock for microseconds; a writer holds it for good. Returns the error number,
    // or 0.
    [[nodiscard]] static int take_lock(opened_file file) noexcept;

    // Takes ownership of `file`; closes it on an error.
    [[nodiscard]] result<shared_memory> map_shared(opened_file file, std::uint64_t bytes,
                                                   std::string_view path) noexcept;

    [[nodiscard]] static int number_of(opened_file file) noexcept { return static_cast<int>(file.native); }
    // For files without appended data.
    static void drop(opened_file file) noexcept;

    [[nodiscard]] static error no_file(mode_t mode, std::string_view doing, std::string_view path) noexcept;
    // Never waits for the other end of a pipe; refuses anything but files.
    [[nodiscard]] static result<opened_file> open_regular(std::string_view path, int flags,
                                                          std::string_view doing) noexcept;

    [[nodiscard]] static result<opened_file> open_file(std::string_view path, int flags, std::string_view doing,
                                                       mode_t rights = 0666) noexcept;
};

// Detects whether this process is a fork of the one that made it, without a system call: by a page that the kernel
// clears in a child (Linux 4.14; elsewhere the process id is compared).
class fork_guard {
public:
    fork_guard() noexcept;
    fork_guard(fork_guard const&) = delete;
    fork_guard& operator=(fork_guard const&) = delete;
    ~fork_guard();
    // Costs a memory access, or getpid().
    [[nodiscard]] bool in_child() const noexcept { return mark_ != nullptr ? *mark_ == 0 : ::getpid() != made_in_; }

private:
    static constexpr std::size_t page_bytes = 4096;

    pid_t made_in_;
    unsigned char volatile* mark_ = nullptr;
};

// Populates pages of memory that will be written, so that no page fault comes later. Does not read or change their
// content, so any thread may call it while others write. False if the system cannot (Linux before 5.14), or memory is
// exhausted.
[[nodiscard]] bool make_ready(std::span<std::byte> memory) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/posix.ipp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY zero_terminated::zero_terminated(std::string_view path) noexcept {
    good_ = path.size() < sizeof letters_ && path.find('\0') == path.npos;
    if (good_ && !path.empty()) { std::memcpy(letters_, path.data(), path.size()); }
    letters_[good_ ? path.size() : 0] = '\0';
}

// The meaning of an error number for a user.
struct errno_meaning {
    int number;
    errc code;
    std::string_view cause, advice;
};
inline constexpr errno_meaning errno_meanings[] = {
    {ENOSPC, errc::disk_full, "the disk is full", "free some space"},
    {EDQUOT, errc::disk_full, "the disk is full", "free some space"},
    {EFBIG, errc::io_error, "the system allows no larger file",
     "raise the limit (ulimit -f), or lower options::segment_bytes"},
    {EACCES, errc::unwritable, "no permission", "change its rights, or choose another folder"},
    {EPERM, errc::unwritable, "no permission", "change its rights, or choose another folder"},
    {EROFS, errc::unwritable, "the file system is read-only", "choose another folder"},
    {ENOTDIR, errc::unwritable, "a part of the path is a file", "choose another folder"},
    {EISDIR, errc::unwritable, "it is a folder", "choose another name"},
    {ELOOP, errc::unwritable, "it is a link that leads nowhere", "move it away"},
    {ENXIO, errc::unwritable, "it is no file", "move it away"},
    {ENODEV, errc::unwritable, "it is no file", "move it away"},
    {ENAMETOOLONG, errc::unwritable, "the path is too long", "choose a shorter one"},
    {ENOENT, errc::not_a_run, "there is no such file", "check the path"},
    {EEXIST, errc::exists, "it is there already", "choose another name"},
    {EWOULDBLOCK, errc::busy, "another process has it locked", "wait for it, end it, or choose another folder"},
    {EOVERFLOW, errc::io_error, "it is larger than the memory that a 32-bit program can name",
     "read it with a 64-bit program"},
    {EMFILE, errc::io_error, "too many files are open", "close some or raise the limit"},
    {ENFILE, errc::io_error, "too many files are open", "close some or raise the limit"},
    {ENOMEM, errc::out_of_memory, "no memory", "close something"},
};

SPOTTER_COLD_BODY error system_error(int number, std::string_view doing, std::string_view path,
                                     std::string_view known) noexcept {
    errno_meaning means{number, errc::io_error, "the system refused", "check the disk"};
    for (errno_meaning const& each : errno_meanings) {
        if (each.number == number) { means = each; }
    }
    error why{means.code, {}};
    // The end of a path is the most useful part; a sentence has room for about 120 characters of it.
    bool const cut = path.size() > 120;
    why.what << "could not " << doing << ' ' << (cut ? "..." : "") << (cut ? path.substr(path.size() - 120) : path)
             << ": " << (known.empty() ? means.cause : known) << " (errno " << number << "); " << means.advice;
    return why;
}

SPOTTER_COLD_BODY void name_holder(int own, text<64>& into) noexcept {
    constexpr int most = 100'000;  // most links to read
    text<64> link{"/proc/self/fd/"};
    link << own << '\0';
    char wanted[longest_path], found[longest_path];
    ssize_t const size = ::readlink(link.view().data(), wanted, sizeof wanted);
    DIR* const all = size > 0 ? open_folder_above_streams("/proc") : nullptr;
    if (all == nullptr) { return; }
    int looked = 0;
    for (dirent const* each = ::readdir(all); each != nullptr && looked < most && into.empty(); each = ::readdir(all)) {
        long const process = std::strtol(each->d_name, nullptr, 10);
        if (process <= 0) { continue; }
        text<64> place{"/proc/"};
        place << process << "/fd" << '\0';
        DIR* const open = open_folder_above_streams(place.view().data());
        if (open == nullptr) { continue; }
        for (dirent const* file = ::readdir(open); file != nullptr; file = ::readdir(open), ++looked) {
            if (process == ::getpid() && std::strtol(file->d_name, nullptr, 10) == own) { continue; }
            if (::readlinkat(::dirfd(open), file->d_name, found, sizeof found) != size ||
                std::memcmp(found, wanted, static_cast<std::size_t>(size)) != 0) {
                continue;
            }
            if (process == ::getpid()) {
                into << "this process has it locked already";
            } else {
                into << "process " << process << " has it locked";
            }
            break;
        }
        ::closedir(open);
    }
    ::closedir(all);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
