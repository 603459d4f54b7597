// SPDX-License-Identifier: Apache-2.0
// File (L1): what the system's error numbers mean to a user, and who is in the way.
#pragma once

#include <spotter/file/descriptor.hpp>
#include <spotter/file/file_system.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A path with its final zero.
class zero_terminated {
public:
    explicit zero_terminated(std::string_view path) noexcept;
    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] char* get() noexcept { return letters_; }

private:
    char letters_[longest_path + 1];
    bool good_;
};

// What the system's error number means to a user, and what to do about it.
[[nodiscard]] error system_error(int number, std::string_view doing, std::string_view path,
                                 std::string_view known = {}) noexcept;

// Who has the file behind an open one, too: "process 12 has it locked"; stays empty where nobody is seen (another
// user's, another machine's). By the names of open files in /proc, so that no disk is asked, which might not answer.
void name_holder(int own, text<64>& into) noexcept;

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/posix_error.ipp>
#endif
