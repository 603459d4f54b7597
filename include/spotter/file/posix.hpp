// SPDX-License-Identifier: Apache-2.0
// File (L1): the file system of POSIX by its raw calls. All that the project knows of POSIX's files is in this file and
// the next to it, posix_error.hpp. Others include system.hpp.
#pragma once

#include <spotter/file/posix_error.hpp>

#include <sys/types.h>
#include <unistd.h>

namespace spotter::inline SPOTTER_ABI {

// Files by POSIX's calls, with the system's sentence in each error. Has no state.
class posix_file_system final : public file_system {
public:
    [[nodiscard]] result<opened_file> create(std::string_view path) noexcept override;
    [[nodiscard]] result<opened_file> open_append(std::string_view path) noexcept override;
    [[nodiscard]] error append(opened_file file, std::span<std::byte const> bytes) noexcept override;
    [[nodiscard]] error sync(opened_file file) noexcept override;
    [[nodiscard]] error close(opened_file file) noexcept override;
    [[nodiscard]] error sync_folder(std::string_view path) noexcept override;
    [[nodiscard]] result<bool> is_at(opened_file file, std::string_view path) noexcept override;

    // As it is where the working directory was removed, or does not lead there by its name.
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

    // flock, not fcntl: it also excludes another recorder of the same process. A child that is forked off shares it, so
    // the file stays locked until the child leaves it or ends, too. Made only where nothing is, so that a link that
    // leads nowhere is not followed.
    [[nodiscard]] result<opened_file> lock(std::string_view path) noexcept override;
    void unlock(opened_file held) noexcept override;
    void leave_lock(opened_file held) noexcept override { drop(held); }
    [[nodiscard]] result<bool> is_locked(std::string_view path) noexcept override;

    // Files in /dev/shm, which everyone on the machine may list: so nobody else may read them, and no link is followed
    // there. Without a name, or where the system has no such files under one of its own, until it has its memory and
    // its lock.
    [[nodiscard]] result<shared_memory> create_shared(std::string_view name, std::uint64_t bytes) noexcept override;
    [[nodiscard]] result<shared_memory> open_shared(std::string_view name) noexcept override;
    void unmap_shared(shared_memory memory) noexcept override;
    [[nodiscard]] error remove_shared(std::string_view name) noexcept override;
    [[nodiscard]] std::string_view shared_place() const noexcept override { return shared_folder; }

private:
    static constexpr std::string_view shared_folder = "/dev/shm";
    static constexpr std::string_view part_suffix = "-part";  // of what may not be whole yet

    [[nodiscard]] result<shared_memory> make_shared(std::string_view name, std::uint64_t bytes, bool named) noexcept;

    // A reader that is just asking holds it for microseconds; whoever writes holds it for good. The error's number, or
    // 0.
    [[nodiscard]] static int take_lock(opened_file file) noexcept;

    // Takes the file, or closes it.
    [[nodiscard]] result<shared_memory> map_shared(opened_file file, std::uint64_t bytes,
                                                   std::string_view path) noexcept;

    [[nodiscard]] static int number_of(opened_file file) noexcept { return static_cast<int>(file.native); }
    // Of what nothing was appended to.
    static void drop(opened_file file) noexcept;

    [[nodiscard]] static error no_file(mode_t mode, std::string_view doing, std::string_view path) noexcept;
    // Never waits for the other end of a pipe, and takes nothing but files.
    [[nodiscard]] static result<opened_file> open_regular(std::string_view path, int flags,
                                                          std::string_view doing) noexcept;

    [[nodiscard]] static result<opened_file> open_file(std::string_view path, int flags, std::string_view doing,
                                                       mode_t rights = 0666) noexcept;
};

// Knows whether this process is a fork of the one it was made in, without a system call: a page that the kernel empties
// in a child (Linux 4.14; elsewhere the process id is compared).
class fork_guard {
public:
    fork_guard() noexcept;
    fork_guard(fork_guard const&) = delete;
    fork_guard& operator=(fork_guard const&) = delete;
    ~fork_guard();
    // Costs a look at memory, or at the number of the process.
    [[nodiscard]] bool in_child() const noexcept { return mark_ != nullptr ? *mark_ == 0 : ::getpid() != made_in_; }

private:
    static constexpr std::size_t page_bytes = 4096;

    pid_t made_in_;
    unsigned char volatile* mark_ = nullptr;
};

// Gives the pages of memory that will be written to their memory now, so that no page fault comes later. Changes
// nothing in them and reads nothing, so any thread may, whoever writes there meanwhile. False where the system cannot
// (Linux before 5.14), or has no memory.
[[nodiscard]] bool make_ready(std::span<std::byte> memory) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/posix.ipp>
#endif
