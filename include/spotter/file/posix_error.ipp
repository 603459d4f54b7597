// SPDX-License-Identifier: Apache-2.0
// The bodies of posix_error.hpp.
#pragma once

#include <spotter/file/posix_error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <unistd.h>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY zero_terminated::zero_terminated(std::string_view path) noexcept {
    good_ = path.size() < sizeof letters_ && path.find('\0') == path.npos;
    if (good_ && !path.empty()) { std::memcpy(letters_, path.data(), path.size()); }
    letters_[good_ ? path.size() : 0] = '\0';
}

SPOTTER_BODY error system_error(int number, std::string_view doing, std::string_view path,
                                std::string_view known) noexcept {
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
        case EFBIG:
            cause = "the system allows no larger file";
            advice = "raise the limit (ulimit -f), or lower options::segment_bytes";
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
        case ELOOP:
            why.code = errc::unwritable;
            cause = "it is a link that leads nowhere";
            advice = "move it away";
            break;
        case ENXIO:
        case ENODEV:
            why.code = errc::unwritable;
            cause = "it is no file";
            advice = "move it away";
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
            advice = "wait for it, end it, or choose another folder";
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
    if (!known.empty()) { cause = known; }
    // The path's end says most; a sentence has room for about 120 letters of it.
    bool const cut = path.size() > 120;
    why.what << "could not " << doing << ' ' << (cut ? "..." : "") << (cut ? path.substr(path.size() - 120) : path)
             << ": " << cause << " (errno " << number << "); " << advice;
    return why;
}

SPOTTER_BODY void name_holder(int own, text<64>& into) noexcept {
    constexpr int most = 100'000;  // links to look at
    text<64> link{"/proc/self/fd/"};
    link << own << '\0';
    char wanted[longest_path], found[longest_path];
    ssize_t const size = ::readlink(link.view().data(), wanted, sizeof wanted);
    DIR* const all = size > 0 ? ::opendir("/proc") : nullptr;
    if (all == nullptr) { return; }
    int looked = 0;
    for (dirent const* each = ::readdir(all); each != nullptr && looked < most && into.empty(); each = ::readdir(all)) {
        long const process = std::strtol(each->d_name, nullptr, 10);
        if (process <= 0) { continue; }
        text<64> place{"/proc/"};
        place << process << "/fd" << '\0';
        DIR* const open = ::opendir(place.view().data());
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
