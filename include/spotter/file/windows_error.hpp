// SPDX-License-Identifier: Apache-2.0
// File (L1): what the error numbers of Windows mean to a user, and names as Windows has them.
#pragma once

#include <spotter/file/file_system.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A path of UTF-8 as UTF-16 with its final zero. Not good: it is too long, has a zero in it, or is no UTF-8.
class wide_path {
public:
    explicit wide_path(std::string_view path, std::string_view behind = {}) noexcept;
    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] wchar_t* get() noexcept { return letters_; }

private:
    wchar_t letters_[longest_path + 1];
    bool good_ = false;
};

// What the system's error number means to a user, and what to do about it.
[[nodiscard]] error windows_error(unsigned long number, std::string_view doing, std::string_view path,
                                  std::string_view known = {}) noexcept;

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/windows_error.ipp>
#endif
