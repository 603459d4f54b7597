// SPDX-License-Identifier: Apache-2.0
// File (L1): explains the system's error numbers to a user, and finds the process that holds a lock.
#pragma once

#include <spotter/file/descriptor.hpp>
#include <spotter/file/file_system.hpp>

#include <cstring>

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

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <unistd.h>

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
    {EACCES, errc::unwritable, "no permission", "choose another folder"},
    {EPERM, errc::unwritable, "no permission", "choose another folder"},
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
