// SPDX-License-Identifier: Apache-2.0
// File (L1): explains the error numbers of Windows to a user, and converts paths for Windows.
#pragma once

#include <spotter/file/file_system.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A UTF-8 path as zero-terminated UTF-16. Not good: too long, with a zero in it, or invalid UTF-8.
class wide_path {
public:
    explicit wide_path(std::string_view path, std::string_view behind = {}) noexcept;
    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] wchar_t* get() noexcept { return letters_; }

private:
    wchar_t letters_[longest_path + 1];
    bool good_ = false;
};

// The error for a system error number, with advice for the user.
[[nodiscard]] error windows_error(unsigned long number, std::string_view doing, std::string_view path,
                                  std::string_view known = {}) noexcept;

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/windows_api.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY wide_path::wide_path(std::string_view path, std::string_view behind) noexcept {
    std::size_t used = 0;
    bool const no_zero = path.find('\0') == path.npos;
    good_ = no_zero && !path.empty();
    for (std::string_view const part : {path, behind}) {
        if (part.empty() || !good_) { continue; }
        int const room = static_cast<int>(longest_path - used),
                  size = static_cast<int>(part.size() < longest_path ? part.size() : longest_path);
        int const made = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, part.data(), size, letters_ + used, room);
        good_ = made > 0 && part.size() < longest_path;
        used += good_ ? static_cast<std::size_t>(made) : 0;
    }
    letters_[good_ ? used : 0] = L'\0';
}

struct windows_meaning {
    unsigned long number;
    errc code;
    std::string_view cause, advice;
};
inline constexpr windows_meaning windows_meanings[] = {
    {ERROR_DISK_FULL, errc::disk_full, "the disk is full", "free some space"},
    {ERROR_HANDLE_DISK_FULL, errc::disk_full, "the disk is full", "free some space"},
    {1295, errc::disk_full, "the disk is full", "free some space"},
    {ERROR_ACCESS_DENIED, errc::unwritable, "no permission, or somebody has it open",
     "choose another folder, or close it"},
    {ERROR_WRITE_PROTECT, errc::unwritable, "the disk is read-only", "choose another folder"},
    {ERROR_DIRECTORY, errc::unwritable, "a part of the path is a file", "choose another folder"},
    {ERROR_BAD_DEVICE, errc::unwritable, "it is no file", "choose another name"},
    {ERROR_INVALID_NAME, errc::unwritable, "Windows takes no such name", "choose another one"},
    {ERROR_FILENAME_EXCED_RANGE, errc::unwritable, "the path is too long, or no UTF-8", "choose a shorter one"},
    {ERROR_BUFFER_OVERFLOW, errc::unwritable, "the path is too long", "choose a shorter one"},
    {ERROR_FILE_NOT_FOUND, errc::not_a_run, "there is no such file", "check the path"},
    {ERROR_PATH_NOT_FOUND, errc::not_a_run, "there is no such file", "check the path"},
    {ERROR_FILE_EXISTS, errc::exists, "it is there already", "choose another name"},
    {ERROR_ALREADY_EXISTS, errc::exists, "it is there already", "choose another name"},
    {ERROR_LOCK_VIOLATION, errc::busy, "another process has it locked",
     "wait for it, end it, or choose another folder"},
    {ERROR_SHARING_VIOLATION, errc::busy, "another process has it open",
     "wait for it, end it, or choose another folder"},
    {ERROR_USER_MAPPED_FILE, errc::busy, "somebody reads it", "wait for it, or end it"},
    {ERROR_TOO_MANY_OPEN_FILES, errc::io_error, "too many files are open", "close some"},
    {ERROR_NOT_ENOUGH_MEMORY, errc::out_of_memory, "no memory", "close something"},
    {ERROR_OUTOFMEMORY, errc::out_of_memory, "no memory", "close something"},
    {ERROR_COMMITMENT_LIMIT, errc::out_of_memory, "no memory", "close something"},
    {ERROR_FILE_TOO_LARGE, errc::io_error, "it is larger than the memory that a 32-bit program can name",
     "read it with a 64-bit program"},
};

SPOTTER_BODY error windows_error(unsigned long number, std::string_view doing, std::string_view path,
                                 std::string_view known) noexcept {
    windows_meaning means{number, errc::io_error, "the system refused", "check the disk"};
    for (windows_meaning const& each : windows_meanings) {
        if (each.number == number) { means = each; }
    }
    error why{means.code, {}};
    bool const cut = path.size() > 120;
    why.what << "could not " << doing << ' ' << (cut ? "..." : "") << (cut ? path.substr(path.size() - 120) : path)
             << ": " << (known.empty() ? means.cause : known) << " (error " << number << "); " << means.advice;
    return why;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
