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
#include <spotter/file/posix_error.ipp>
#endif
