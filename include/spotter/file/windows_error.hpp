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
#include <spotter/file/windows_error.ipp>
#endif
